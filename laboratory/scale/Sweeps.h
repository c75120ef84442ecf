//===- Sweeps.h - what a study says beside its laws -----------------------------------===//
//
// Of its trained runs: the share of attention that is best at a budget, the state that a loss
// takes, what it costs to train a smaller model for longer at equal FLOPs, and which batch is best.
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

/// A training of a model that is smaller than the best of its budget, of the plan or of the sweep.
struct OvertrainPoint {
  const TrainedRun *run = nullptr;
  double factor = 0;      // how many times smaller
  double rise = 0;        // of the loss, as trained
  bool isMinimum = false; // what it is compared with: of the parabola, or the lowest training
  std::optional<double> byParabola, byLaw; // what the fit says that the loss rises by
};
/// By group, budget and factor.
std::vector<OvertrainPoint> overtrainSweep(const std::vector<TrainedRun> &runs, const Fit &fit);

/// A training with one of the batches of a sweep.
struct BatchPoint {
  const TrainedRun *run = nullptr;
  double tokens = 0; // of the batch
  bool isLowest = false;
};
/// By group and batch, with the plan's own.
std::vector<BatchPoint> batchSweep(const std::vector<TrainedRun> &runs);

/// All of it, for scripts and the page, and for people.
struct Sweeps {
  std::vector<RatioPoint> ratios;
  std::vector<StatePoint> states;
  std::vector<OffOptimal> costs;
  std::vector<OvertrainPoint> overtrained;
  std::vector<BatchPoint> batches;
};
void addSweeps(const Sweeps &sweeps, nlohmann::ordered_json &study);
std::string sweepsText(const Sweeps &sweeps);

} // namespace hybrid::rt::lab::scale
