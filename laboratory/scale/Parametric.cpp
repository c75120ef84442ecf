//===- Parametric.cpp - Chinchilla's law of loss by size and tokens ----------------===//
#include "laboratory/scale/Parametric.h"
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <lbfgs.h>
#include <numeric>

namespace hybrid::rt::lab::scale {
namespace {

using Coefficients = std::array<double, 5>; // log E, log A, log B about the means, alpha, beta
constexpr double delta = 1e-3;

/// Shares of the three terms in the loss at a point, and the logarithm of their sum.
struct Terms {
  double irreducible, size, tokens, logSum;
};

Terms termsAt(const double *c, double x, double y) {
  double e = c[0], a = c[1] - c[3] * x, b = c[2] - c[4] * y;
  double most = std::max({e, a, b});
  Terms terms{std::exp(e - most), std::exp(a - most), std::exp(b - most), 0};
  double sum = terms.irreducible + terms.size + terms.tokens;
  terms.irreducible /= sum;
  terms.size /= sum;
  terms.tokens /= sum;
  terms.logSum = most + std::log(sum);
  return terms;
}

struct Objective {
  std::span<const double> x, y, z;

  /// The mean of Huber's loss over delta^2, and its gradient.
  double operator()(const double *c, double *gradient) const {
    std::fill_n(gradient, 5, 0.0);
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      Terms terms = termsAt(c, x[i], y[i]);
      double off = (terms.logSum - z[i]) / delta;
      bool isSmall = std::fabs(off) <= 1;
      sum += isSmall ? off * off / 2 : std::fabs(off) - 0.5;
      double slope = (isSmall ? off : off > 0 ? 1 : -1) / delta;
      gradient[0] += slope * terms.irreducible;
      gradient[1] += slope * terms.size;
      gradient[2] += slope * terms.tokens;
      gradient[3] -= slope * terms.size * x[i];
      gradient[4] -= slope * terms.tokens * y[i];
    }
    double count = static_cast<double>(x.size());
    for (int k = 0; k < 5; ++k)
      gradient[k] /= count;
    return sum / count;
  }
};

} // namespace

double ParametricLaw::loss(double params, double tokens) const {
  return E + std::exp(logA - alpha * std::log(params)) + std::exp(logB - beta * std::log(tokens));
}

double ParametricLaw::optimalSize(double flops, double flopsEach) const {
  double logG = (std::log(alpha) + logA - std::log(beta) - logB) / (alpha + beta);
  return std::exp(logG + sizeExponent() * std::log(flops / flopsEach));
}

ParametricFit::ParametricFit(const std::vector<Point> &points) {
  for (const Point &point : points) {
    x.push_back(std::log(point.params));
    y.push_back(std::log(point.tokens));
    z.push_back(std::log(point.loss));
  }
  auto centre = [](std::vector<double> &values) {
    double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    for (double &value : values)
      value -= mean;
    return mean;
  };
  meanX = centre(x);
  meanY = centre(y);
}

std::vector<Coefficients> ParametricFit::grid() const {
  double least = std::exp(*std::min_element(z.begin(), z.end()));
  double mean = std::exp(std::accumulate(z.begin(), z.end(), 0.0) / static_cast<double>(z.size()));
  std::vector<Coefficients> starts;
  for (double alpha : {0.1, 0.2, 0.4, 0.8, 1.6})
    for (double beta : {0.1, 0.2, 0.4, 0.8, 1.6})
      for (double irreducible : {0.1, 0.4, 0.7, 0.9}) // of the lowest loss
        for (double bySize : {0.25, 0.5, 0.75}) {     // of what is above it
          double rest = mean - irreducible * least;
          starts.push_back({std::log(irreducible * least), std::log(bySize * rest),
                            std::log((1 - bySize) * rest), alpha, beta});
        }
  return starts;
}

size_t ParametricFit::starts() const { return grid().size(); }

ParametricFit::Outcome ParametricFit::minimise(Coefficients start,
                                               std::span<const double> logLosses,
                                               int iterations) const {
  Objective objective{x, y, logLosses};
  lbfgs_parameter_t how;
  lbfgs_parameter_init(&how);
  how.m = 10;
  how.epsilon = 1e-9;
  how.past = 5;
  how.delta = 1e-10;
  how.max_iterations = iterations;
  how.max_linesearch = 40;
  auto evaluate = [](void *instance, const double *c, double *gradient, const int,
                     const double) -> double {
    return (*static_cast<const Objective *>(instance))(c, gradient);
  };
  Outcome outcome;
  // Between the corners of Huber's loss the line search ends at the last digits; a new start there,
  // with nothing remembered, says whether that was the minimum.
  double last = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 5; ++round) {
    double reached = 0;
    lbfgs(5, start.data(), &reached, evaluate, nullptr, &objective, &how);
    outcome.objective = reached;
    outcome.converged = last - reached <= 1e-7 * std::fabs(last);
    if (outcome.converged || iterations > 0)
      break;
    last = reached;
  }
  outcome.centred = start;
  outcome.law = {std::exp(start[0]), start[1] + start[3] * meanX, start[2] + start[4] * meanY,
                 start[3], start[4]};
  return outcome;
}

ParametricFit::Outcome ParametricFit::from(const Coefficients &start,
                                           std::span<const double> logLosses) const {
  return minimise(start, logLosses, 0);
}

ParametricFit::Outcome ParametricFit::fromGrid() const {
  // Every start goes some of the way, the best of them to the end.
  constexpr int someOfTheWay = 25;
  constexpr size_t finalists = 10;
  std::vector<Outcome> outcomes;
  for (const Coefficients &start : grid())
    if (Outcome outcome = minimise(start, z, someOfTheWay); std::isfinite(outcome.objective))
      outcomes.push_back(outcome);
  std::stable_sort(outcomes.begin(), outcomes.end(),
                   [](const Outcome &a, const Outcome &b) { return a.objective < b.objective; });
  outcomes.resize(std::min(outcomes.size(), finalists));
  Outcome best;
  best.objective = std::numeric_limits<double>::infinity();
  for (const Outcome &outcome : outcomes)
    if (Outcome last = from(outcome.centred, z); last.objective < best.objective)
      best = last;
  return best;
}

std::vector<double> ParametricFit::predicted(const Outcome &outcome) const {
  std::vector<double> losses;
  for (size_t i = 0; i < x.size(); ++i)
    losses.push_back(termsAt(outcome.centred.data(), x[i], y[i]).logSum);
  return losses;
}

std::vector<double> ParametricFit::leverages(const Outcome &outcome) const {
  Eigen::Matrix<double, Eigen::Dynamic, 5> slopes(static_cast<Eigen::Index>(x.size()), 5);
  for (size_t i = 0; i < x.size(); ++i) {
    Terms terms = termsAt(outcome.centred.data(), x[i], y[i]);
    slopes.row(static_cast<Eigen::Index>(i)) << terms.irreducible, terms.size, terms.tokens,
        -terms.size * x[i], -terms.tokens * y[i];
  }
  Eigen::Matrix<double, 5, 5> gram = slopes.transpose() * slopes;
  gram.diagonal().array() += 1e-12 * gram.trace(); // where a coefficient decides nothing
  Eigen::LDLT<Eigen::Matrix<double, 5, 5>> inverse(gram);
  std::vector<double> leverages;
  for (Eigen::Index i = 0; i < slopes.rows(); ++i) {
    Eigen::Matrix<double, 5, 1> slope = slopes.row(i).transpose();
    leverages.push_back(slope.dot(inverse.solve(slope)));
  }
  return leverages;
}

} // namespace hybrid::rt::lab::scale
