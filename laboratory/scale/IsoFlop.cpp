//===- IsoFlop.cpp - the best size of a budget by a parabola ------------------------===//
#include "laboratory/scale/IsoFlop.h"
#include <Eigen/Core>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab::scale {
namespace {

using Three = Eigen::Matrix<double, Eigen::Dynamic, 3>;

Three powersOf(const std::vector<double> &x) {
  Three powers(static_cast<Eigen::Index>(x.size()), 3);
  for (size_t i = 0; i < x.size(); ++i)
    powers.row(static_cast<Eigen::Index>(i)) << 1, x[i], x[i] * x[i];
  return powers;
}

} // namespace

const char *doubtName(Doubt doubt) {
  switch (doubt) {
  case Doubt::None:
    break;
  case Doubt::TooFew:
    return "too-few";
  case Doubt::Downwards:
    return "downwards";
  case Doubt::Edge:
    return "edge";
  }
  return "";
}

IsoFlop::IsoFlop(std::vector<Point> points) : members(std::move(points)) {
  std::stable_sort(members.begin(), members.end(),
                   [](const Point &a, const Point &b) { return a.params < b.params; });
  double logFlops = 0, count = static_cast<double>(members.size());
  for (const Point &point : members) {
    logFlops += std::log(point.flops) / count;
    meanX += std::log(point.params) / count;
  }
  budget = std::exp(logFlops);
  for (size_t i = 0; i < members.size(); ++i) {
    x.push_back(std::log(members[i].params) - meanX);
    distinctSizes += i == 0 || members[i].params > members[i - 1].params;
  }
}

std::vector<double> IsoFlop::losses() const {
  std::vector<double> losses;
  for (const Point &point : members)
    losses.push_back(point.loss);
  return losses;
}

IsoFlop::Parabola IsoFlop::fit(std::span<const double> losses) const {
  Eigen::Map<const Eigen::VectorXd> values(losses.data(), static_cast<Eigen::Index>(losses.size()));
  Eigen::Vector3d found = powersOf(x).colPivHouseholderQr().solve(values);
  return {found[0], found[1], found[2]};
}

double IsoFlop::at(const Parabola &parabola, size_t point) const {
  return parabola.level + x[point] * (parabola.slope + x[point] * parabola.bend);
}

std::vector<double> IsoFlop::leverages() const {
  Three powers = powersOf(x);
  Eigen::ColPivHouseholderQR<Eigen::Matrix3d> inverse(powers.transpose() * powers);
  std::vector<double> leverages;
  for (Eigen::Index i = 0; i < powers.rows(); ++i) {
    Eigen::Vector3d row = powers.row(i).transpose();
    leverages.push_back(row.dot(inverse.solve(row)));
  }
  return leverages;
}

Minimum IsoFlop::minimum(const Parabola &parabola) const {
  Minimum minimum;
  double at = -parabola.slope / (2 * parabola.bend);
  minimum.params = std::exp(meanX + at);
  minimum.loss = parabola.level + at * parabola.slope / 2;
  minimum.curvature = 2 * parabola.bend;
  // Tokens of that size: those of the budget's trainings, smooth in the size.
  std::vector<double> tokens;
  for (const Point &point : members)
    tokens.push_back(std::log(point.tokens));
  Parabola smooth = fit(tokens);
  minimum.tokens = std::exp(smooth.level + at * (smooth.slope + at * smooth.bend));
  return minimum;
}

Doubt IsoFlop::doubt(const Parabola &parabola, std::string &why) const {
  if (parabola.bend <= 0) {
    why = "the parabola opens downwards or is flat: its sizes show no minimum";
    return Doubt::Downwards;
  }
  auto lowest = std::min_element(members.begin(), members.end(),
                                 [](const Point &a, const Point &b) { return a.loss < b.loss; });
  double best = minimum(parabola).params;
  bool isBelow = best <= members.front().params || lowest->params <= members.front().params;
  bool isAbove = best >= members.back().params || lowest->params >= members.back().params;
  if (!isBelow && !isAbove)
    return Doubt::None;
  why = fmt::format("the minimum lies at an edge: the parabola's is at {:.3g} parameters, the "
                    "lowest loss at {:.3g}, of sizes from {:.3g} to {:.3g}; add {} sizes",
                    best, lowest->params, members.front().params, members.back().params,
                    isBelow ? "smaller" : "larger");
  return Doubt::Edge;
}

std::vector<IsoFlop> byBudget(std::vector<Point> points, double tolerance) {
  std::stable_sort(points.begin(), points.end(),
                   [](const Point &a, const Point &b) { return a.flops < b.flops; });
  std::vector<IsoFlop> budgets;
  std::vector<Point> members;
  for (const Point &point : points) {
    if (!members.empty() && point.flops > members.front().flops * (1 + tolerance)) {
      budgets.emplace_back(std::move(members));
      members.clear();
    }
    members.push_back(point);
  }
  if (!members.empty())
    budgets.emplace_back(std::move(members));
  return budgets;
}

} // namespace hybrid::rt::lab::scale
