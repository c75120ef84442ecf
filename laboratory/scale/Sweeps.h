//===- Sweeps.h - what a study says beside its laws -----------------------------------===//
//
// Of its trained runs: the share of attention that is best at a budget, the state that a loss
// takes, and what it costs to train a smaller model for longer at equal FLOPs.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/scale/Fit.h"
#include "laboratory/scale/ScaleStudy.h"

namespace hybrid::rt::lab::scale {

/// A model with one share of attention at the budget of the sweep.
struct RatioPoint {
  std::string group;
  double attention = 0; // share of the layers
  BudgetFit best;       // over its sizes; one that is refused has no minimum
  Point lowest;         // the best training itself
};
/// By budget, then by share. Empty without a sweep.
std::vector<RatioPoint> ratioSweep(const std::vector<TrainedRun> &runs, const FitOptions &options);

/// A run beside what decoding it carries.
struct StatePoint {
  const TrainedRun *run = nullptr;
  bool onFixed = false, onDynamic = false, onTotal = false; // no run of its budget has a lower
                                                            // loss with as little of that state
};
/// Of the runs whose state is known, in their order.
std::vector<StatePoint> stateFrontier(const std::vector<TrainedRun> &runs);

/// What the loss rises by where a model is `factor` times smaller than the best of its budget, and
/// trained on as many more tokens.
struct OffOptimal {
  std::string group;
  double flops = 0, factor = 0;
  std::optional<double> byParabola;
  std::optional<Estimate> byLaw;
};
/// For the budgets of each group that have a minimum.
std::vector<OffOptimal> offOptimal(const Fit &fit, const std::vector<double> &factors);

/// All of it, for scripts and the page, and for people.
struct Sweeps {
  std::vector<RatioPoint> ratios;
  std::vector<StatePoint> states;
  std::vector<OffOptimal> costs;
};
void addSweeps(const Sweeps &sweeps, nlohmann::ordered_json &study);
std::string sweepsText(const Sweeps &sweeps);

} // namespace hybrid::rt::lab::scale
