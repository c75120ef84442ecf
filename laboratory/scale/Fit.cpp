//===- Fit.cpp - scaling laws of trainings, with intervals --------------------------===//
#include "laboratory/scale/Fit.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace hybrid::rt::lab::scale {
namespace {

/// Streams of random numbers: no two bootstraps draw the same.
constexpr uint64_t frontierStream = 0x5CA1E001, lawStream = 0x5CA1E002;
/// Residuals that are free, below which their scatter says nothing.
constexpr size_t fewestFree = 3;
/// A law of five coefficients needs a point more.
constexpr size_t fewestOfLaw = 6;
/// Losses that differ by less, as a share, say nothing of what they fall with.
constexpr double leastSpread = 1e-6;

/// A straight line through logarithms by least squares; needs two different x.
PowerLaw powerLaw(const std::vector<double> &logX, const std::vector<double> &logY) {
  double count = static_cast<double>(logX.size());
  double meanX = std::accumulate(logX.begin(), logX.end(), 0.0) / count;
  double meanY = std::accumulate(logY.begin(), logY.end(), 0.0) / count;
  double xy = 0, xx = 0;
  for (size_t i = 0; i < logX.size(); ++i) {
    xy += (logX[i] - meanX) * (logY[i] - meanY);
    xx += (logX[i] - meanX) * (logX[i] - meanX);
  }
  return {meanY - xy / xx * meanX, xy / xx};
}

std::optional<Frontier> frontierOf(const std::vector<double> &flops,
                                   const std::vector<Minimum> &minima) {
  std::vector<double> logC, params, tokens, loss;
  for (size_t i = 0; i < minima.size(); ++i) {
    if (!(minima[i].curvature > 0) || !(minima[i].loss > 0) || !std::isfinite(minima[i].params) ||
        !std::isfinite(minima[i].tokens))
      continue;
    logC.push_back(std::log(flops[i]));
    params.push_back(std::log(minima[i].params));
    tokens.push_back(std::log(minima[i].tokens));
    loss.push_back(std::log(minima[i].loss));
  }
  if (logC.size() < 2)
    return std::nullopt;
  return Frontier{powerLaw(logC, params), powerLaw(logC, tokens), powerLaw(logC, loss)};
}

class GroupFitter {
public:
  GroupFitter(std::vector<Point> points, const FitOptions &options, uint64_t index)
      : options(options), index(index) {
    fit.group = points.front().group;
    fit.points = std::move(points);
  }

  GroupFit run() {
    measureFlops();
    fitBudgets();
    fitFrontier();
    fitLaw();
    return std::move(fit);
  }

private:
  void remark(std::optional<double> flops, const std::string &kind, bool isRefusal,
              std::string text) {
    fit.remarks.push_back({flops, kind, isRefusal, std::move(text)});
  }

  void measureFlops() {
    double least = std::numeric_limits<double>::infinity(), most = 0, sum = 0;
    for (const Point &point : fit.points) {
      double each = point.flops / point.params / point.tokens;
      least = std::min(least, each);
      most = std::max(most, each);
      sum += std::log(each);
    }
    fit.flopsEach = std::exp(sum / static_cast<double>(fit.points.size()));
    if (most > 1.5 * least)
      remark({}, "flops", false,
             fmt::format("a training takes from {:.3g} to {:.3g} FLOPs per parameter and token; "
                         "the optimum of the parametric law takes {:.3g}",
                         least, most, fit.flopsEach));
  }

  void fitBudgets() {
    budgets = byBudget(fit.points, options.tolerance);
    for (size_t i = 0; i < budgets.size(); ++i) {
      const IsoFlop &budget = budgets[i];
      BudgetFit result;
      result.flops = budget.flops();
      result.points = budget.points().size();
      std::string why;
      if (budget.sizes() < 3) {
        result.doubt = Doubt::TooFew;
        why = fmt::format("too few points: a parabola needs three sizes, and there {} {}",
                          budget.sizes() == 1 ? "is" : "are", budget.sizes());
      } else {
        IsoFlop::Parabola parabola = budget.fit(budget.losses());
        result.minimum = budget.minimum(parabola);
        result.doubt = budget.doubt(parabola, why);
      }
      if (result.doubt != Doubt::None)
        remark(result.flops, doubtName(result.doubt), true, why);
      else if (budget.points().size() == 3)
        remark(result.flops, "too-few", false,
               "three points: the parabola goes through all of them, whatever their scatter");
      fit.budgets.push_back(result);
      if (i > 0)
        checkApart(i);
    }
  }

  void checkApart(size_t i) {
    auto flopsOf = [](const Point &a, const Point &b) { return a.flops < b.flops; };
    const auto &before = budgets[i - 1].points(), &here = budgets[i].points();
    double last = std::max_element(before.begin(), before.end(), flopsOf)->flops;
    double first = std::min_element(here.begin(), here.end(), flopsOf)->flops;
    if (first <= last * (1 + options.tolerance))
      remark(budgets[i].flops(), "tolerance", false,
             fmt::format("its points begin at {:.4g} FLOPs, where the budget before ends at "
                         "{:.4g}: give --tolerance if they are one",
                         first, last));
  }

  void fitFrontier() {
    std::vector<size_t> used;
    std::vector<double> flops;
    std::vector<Minimum> minima;
    for (size_t i = 0; i < fit.budgets.size(); ++i)
      if (fit.budgets[i].doubt == Doubt::None) {
        used.push_back(i);
        flops.push_back(fit.budgets[i].flops);
        minima.push_back(fit.budgets[i].minimum);
      }
    if (used.size() >= 2)
      fit.frontier = frontierOf(flops, minima);
    if (!fit.frontier)
      remark({}, "too-few", true,
             fmt::format("no frontier: a power law needs the minima of two budgets, and {} of {} "
                         "{} one",
                         used.size(), fit.budgets.size(), used.size() == 1 ? "has" : "have"));
    else if (used.size() == 2)
      remark({}, "too-few", false,
             "the frontier goes through the minima of two budgets: nothing checks that it is a "
             "power law");
    if (!used.empty())
      drawFrontiers(used, flops);
  }

  void drawFrontiers(const std::vector<size_t> &used, const std::vector<double> &flops) {
    Residuals residuals;
    size_t points = 0;
    double squares = 0;
    std::vector<std::vector<double>> smooth;
    for (size_t i : used) {
      const IsoFlop &budget = budgets[i];
      IsoFlop::Parabola parabola = budget.fit(budget.losses());
      std::vector<double> leverages = budget.leverages();
      smooth.emplace_back();
      for (size_t p = 0; p < budget.points().size(); ++p) {
        smooth.back().push_back(budget.at(parabola, p));
        double residual = budget.points()[p].loss - smooth.back().back();
        residuals.add(residual, leverages[p]);
        squares += residual * residual;
      }
      points += budget.points().size();
    }
    const size_t free = points - 3 * used.size();
    if (free > 0)
      fit.scatter = std::sqrt(squares / static_cast<double>(free));
    if (free < fewestFree) {
      remark({}, "scatter", false,
             fmt::format("no intervals of the minima: {} points less three for each of {} budgets "
                         "leave too little scatter to judge by",
                         points, used.size()));
      return;
    }
    residuals.settle(free);
    std::vector<std::vector<Minimum>> drawn(used.size());
    for (int sample = 0; sample < options.bootstrap.samples; ++sample) {
      Rng rng(options.bootstrap.seed, frontierStream + (index << 32),
              static_cast<uint64_t>(sample));
      std::vector<Minimum> minima;
      for (size_t u = 0; u < used.size(); ++u) {
        std::vector<double> losses = smooth[u];
        for (double &loss : losses)
          loss += residuals.draw(rng);
        const IsoFlop &budget = budgets[used[u]];
        minima.push_back(budget.minimum(budget.fit(losses)));
        drawn[u].push_back(minima.back());
      }
      if (auto frontier = fit.frontier ? frontierOf(flops, minima) : std::nullopt)
        fit.drawnFrontiers.push_back(*frontier);
    }
    for (size_t u = 0; u < used.size(); ++u)
      setIntervals(fit.budgets[used[u]], drawn[u]);
  }

  void setIntervals(BudgetFit &budget, const std::vector<Minimum> &drawn) {
    std::vector<Minimum> upwards;
    for (const Minimum &minimum : drawn)
      if (minimum.curvature > 0)
        upwards.push_back(minimum);
    double level = options.bootstrap.level;
    auto intervalOf = [&](double Minimum::*quantity) {
      return estimate(0, upwards, level, [&](const Minimum &m) { return m.*quantity; }).interval;
    };
    budget.params = intervalOf(&Minimum::params);
    budget.tokens = intervalOf(&Minimum::tokens);
    budget.loss = intervalOf(&Minimum::loss);
    double lost = static_cast<double>(drawn.size() - upwards.size());
    if (!drawn.empty() && lost > 0.01 * static_cast<double>(drawn.size()))
      remark(budget.flops, "flat", false,
             fmt::format("the curve is flat beside its scatter: {:.0f} % of the bootstrap's "
                         "parabolas open downwards, and the intervals leave them out",
                         std::ceil(100 * lost / static_cast<double>(drawn.size()))));
  }

  /// Why a law of five coefficients cannot be fitted; empty: it can.
  std::string lawlessness() const {
    std::set<double> sizes, tokens;
    double meanX = 0, meanY = 0, xx = 0, yy = 0, xy = 0;
    const double count = static_cast<double>(fit.points.size());
    for (const Point &point : fit.points) {
      sizes.insert(point.params);
      tokens.insert(point.tokens);
      meanX += std::log(point.params) / count;
      meanY += std::log(point.tokens) / count;
    }
    if (fit.points.size() < fewestOfLaw || sizes.size() < 3 || tokens.size() < 3)
      return fmt::format("no parametric law: it needs {} points of three sizes and three numbers "
                         "of tokens, and there are {} of {} and {}",
                         fewestOfLaw, fit.points.size(), sizes.size(), tokens.size());
    for (const Point &point : fit.points) {
      double x = std::log(point.params) - meanX, y = std::log(point.tokens) - meanY;
      xx += x * x;
      yy += y * y;
      xy += x * y;
    }
    if (xy * xy > 0.999 * xx * yy)
      return "no parametric law: sizes and tokens vary together, as at a single budget, which "
             "cannot tell what each of them does";
    return "";
  }

  void fitLaw() {
    if (std::string why = lawlessness(); !why.empty())
      return remark({}, "too-few", true, why);
    const auto [least, most] =
        std::minmax_element(fit.points.begin(), fit.points.end(),
                            [](const Point &a, const Point &b) { return a.loss < b.loss; });
    if (!(most->loss > least->loss * (1 + leastSpread)))
      return remark({}, "law", true, "no parametric law: all losses are alike");
    ParametricFit fitter(fit.points);
    ParametricFit::Outcome outcome = fitter.fromGrid();
    if (!(outcome.law.alpha > 0) || !(outcome.law.beta > 0))
      return remark(
          {}, "law", true,
          fmt::format("no parametric law: the loss does not fall with {} (alpha {:.3g}, beta "
                      "{:.3g})",
                      outcome.law.alpha > 0 ? "tokens" : "size", outcome.law.alpha,
                      outcome.law.beta));
    fit.law = outcome.law;
    if (!outcome.converged)
      remark({}, "law", false, "the parametric law is the best that was found, but not settled");
    if (outcome.law.E < 1e-3 * least->loss)
      remark({}, "law", false,
             "these points do not determine the irreducible loss E: the best fit has none");
    drawLaws(fitter, outcome);
  }

  void drawLaws(const ParametricFit &fitter, const ParametricFit::Outcome &outcome) {
    const std::vector<double> smooth = fitter.predicted(outcome);
    const std::vector<double> leverages = fitter.leverages(outcome);
    Residuals residuals;
    std::vector<double> distances;
    for (size_t i = 0; i < smooth.size(); ++i) {
      residuals.add(fitter.logLosses()[i] - smooth[i], leverages[i]);
      distances.push_back(std::fabs(fitter.logLosses()[i] - smooth[i]));
    }
    std::sort(distances.begin(), distances.end());
    fit.lawScatter = (distances[distances.size() / 2] + distances[(distances.size() - 1) / 2]) / 2;
    if (smooth.size() < 5 + fewestFree)
      return remark({}, "scatter", false,
                    fmt::format("no intervals of the parametric law: {} points for five "
                                "coefficients leave too little scatter to judge by",
                                smooth.size()));
    residuals.settle(smooth.size() - 5);
    residuals.smooth();
    for (int sample = 0; sample < options.bootstrap.samples; ++sample) {
      Rng rng(options.bootstrap.seed, lawStream + (index << 32), static_cast<uint64_t>(sample));
      std::vector<double> losses = smooth;
      for (double &loss : losses)
        loss += residuals.draw(rng);
      fit.drawnLaws.push_back(fitter.from(outcome.centred, losses).law);
    }
  }

  const FitOptions &options;
  uint64_t index;
  GroupFit fit;
  std::vector<IsoFlop> budgets;
};

} // namespace

double PowerLaw::at(double flops) const {
  return std::exp(logCoefficient + exponent * std::log(flops));
}

Interval GroupFit::frontierRange() const {
  Interval range{std::numeric_limits<double>::infinity(), 0};
  for (const BudgetFit &budget : budgets)
    if (budget.doubt == Doubt::None) {
      range.low = std::min(range.low, budget.flops);
      range.high = std::max(range.high, budget.flops);
    }
  return range;
}

bool Fit::hasAny() const {
  return std::any_of(groups.begin(), groups.end(),
                     [](const GroupFit &group) { return group.frontier || group.law; });
}

Fit fitPoints(const std::vector<Point> &points, const FitOptions &options) {
  Fit fit{options, {}};
  for (std::vector<Point> &group : byGroup(points))
    fit.groups.push_back(GroupFitter(std::move(group), options, fit.groups.size()).run());
  return fit;
}

} // namespace hybrid::rt::lab::scale
