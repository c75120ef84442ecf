//===- Fit.h - scaling laws of trainings, with intervals ----------------------------===//
//
// Two methods on the same points, group by group: parabolas at equal FLOPs and power laws through
// their minima, and Chinchilla's parametric form. Each coefficient has an interval of a bootstrap
// (Estimate.h); equal points, options and seed give equal numbers.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/scale/Estimate.h"
#include "laboratory/scale/IsoFlop.h"
#include "laboratory/scale/Parametric.h"
#include <optional>
#include <string>
#include <vector>

namespace hybrid::rt::lab::scale {

struct FitOptions {
  double tolerance = 0.05; // FLOPs of one budget differ by no more, as a share
  Bootstrap bootstrap;
};

/// Said of a group, or of one of its budgets. A refusal leaves out what it names; the rest is
/// fitted.
struct Remark {
  std::optional<double> flops; // of the budget; none: the whole group
  std::string kind;            // "too-few", "downwards", "edge", "law", "scatter", "span"
  bool isRefusal = false;
  std::string text;
};

/// value = coefficient x FLOPs^exponent.
struct PowerLaw {
  double logCoefficient = 0, exponent = 0;
  double at(double flops) const;
};

/// The minima of a group's budgets as functions of FLOPs.
struct Frontier {
  PowerLaw params, tokens, loss;
};

struct BudgetFit {
  double flops = 0;
  size_t points = 0;
  Doubt doubt = Doubt::None; // anything else: no minimum
  Minimum minimum;
  std::optional<Interval> params, tokens, loss; // of the minimum
};

struct GroupFit {
  std::string group;
  std::vector<Point> points;
  std::vector<BudgetFit> budgets;
  std::optional<Frontier> frontier;
  std::vector<Frontier> drawnFrontiers; // of the bootstrap
  double scatter = 0;                   // deviation of losses about the parabolas, nats
  std::optional<ParametricLaw> law;
  std::vector<ParametricLaw> drawnLaws;
  double lawScatter = 0; // median distance of log loss from the law
  double flopsEach = 0;  // FLOPs per parameter and token, geometric mean
  std::vector<Remark> remarks;

  /// The FLOPs of the budgets whose minima the frontier goes through.
  Interval frontierRange() const;
};

struct Fit {
  FitOptions options;
  std::vector<GroupFit> groups;
  /// Whether anything could be fitted.
  bool hasAny() const;
};

Fit fitPoints(const std::vector<Point> &points, const FitOptions &options);

/// What a coefficient is and how far what was drawn of it spreads.
template <typename Drawn, typename Value>
Estimate estimate(double value, const std::vector<Drawn> &drawn, double level, Value &&of) {
  std::vector<double> values;
  values.reserve(drawn.size());
  for (const Drawn &each : drawn)
    values.push_back(of(each));
  return {value, middle(std::move(values), level)};
}

} // namespace hybrid::rt::lab::scale
