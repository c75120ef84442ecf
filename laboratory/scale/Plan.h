//===- Plan.h - the trainings of a scaling study, before any is run -------------------===//
//
// For each architecture and budget the sizes, the tokens that the budget buys at the FLOPs that the
// compiler counts, batch and learning rate by rule (Rules.h), steps, warm-up, memory and time.
// Nothing is trained.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Models.h"
#include "laboratory/scale/Devices.h"
#include "laboratory/scale/SweepKinds.h"
#include <functional>

namespace hybrid::rt::lab::scale {

struct PlanOptions {
  std::vector<ModelChoice> architectures;
  std::vector<double> budgets;    // FLOPs of a training
  std::vector<std::string> sizes; // names that the models' parameter `size` takes, or settings
                                  // "width=64:layers=2"; empty: so many of table D.2 a budget, or
                                  // of the small ones' rule (models/scaling/sizes.hyb)
  SweepOptions sweeps;
  int sizesEach = 6;
  double tokensEach = 20; // of a parameter, in the middle of them (Hoffmann et al. 2022, table 3)
  int64_t length = 2048;
  std::string method = "true"; // whose FLOPs: "true", or what the layers publish, as "mad"
  std::string precision = "f32";
  std::optional<DeviceModel> device;
  std::string processor = "cpu"; // that they are compiled for, or cuda
  std::string data; // --data of the trainings; empty: their commands leave it to the reader
  std::optional<int64_t> vocabulary; // of the data, if there are any
  std::optional<double> rate;        // instead of the rule's
  std::optional<int64_t> baseWidth;  // one rate for all sizes, that of so wide a model, which
                                     // matrices of more inputs have less of; else by table D.2
  std::vector<double> batchTokens;   // the same: one for all budgets, or one for each
  uint64_t seed = 0;
};

/// What the compiler says of a size.
struct SizeCost {
  double params = 0, activeParams = 0;
  double flopsPerToken = 0;       // of training
  double bytes = 0;               // that training takes with its batch
  std::optional<StateSize> state; // that decoding carries behind a sequence
};

struct PlannedRun {
  std::string architecture, path;
  std::vector<std::string> settings;
  std::string size;
  double budget = 0;
  std::string sweep; // the name of its kind; empty: of the plan itself
  double factor = 0; // of the sweep
  SizeCost cost;
  double tokens = 0; // steps x batch x length
  int64_t batch = 0; // sequences
  int64_t steps = 0, warmup = 0;
  double rate = 0;
  double oneSequenceBytes = 0;   // memory with a batch of one
  double flops = 0;              // that it takes; steps are whole, so not quite the budget
  std::optional<double> seconds; // of a device model, or as measured
  std::optional<int64_t> sequencesThatFit; // on the device at a time; 0: not even one
  std::string remark;
};

/// Asks the compiler what a model of these settings costs with a batch.
using CostOf = std::function<Result<SizeCost>(
    const std::string &path, const std::vector<std::string> &settings, int64_t batch)>;
CostOf compilerCosts(const PlanOptions &options);

/// Of sizes in parameters, rising, those that a budget trains: `count` around the one that
/// `tokensEach` tokens a parameter give, about a factor of 4 from it at most.
std::vector<size_t> sizesAround(const std::vector<double> &sizes, double budget, int count,
                                double tokensEach);

/// In the order of architectures, budgets and sizes, then those of sweeps that are not among them.
/// An error names what cannot be planned.
Result<std::vector<PlannedRun>> planRuns(const PlanOptions &options, const CostOf &costs);

nlohmann::ordered_json planJson(const PlanOptions &options, const std::vector<PlannedRun> &runs);
/// `jobs` trainings at a time; `measured` says how times were measured, where they are not of the
/// options' device.
std::string planText(const PlanOptions &options, const std::vector<PlannedRun> &runs, int jobs = 1,
                     const std::string &measured = "");
/// What updates the parameters, [PATTERN=]LAYER as hybridc takes it: none (AdamW), or with a base
/// width the layer of std.optimizers by which rates of matrices fall with their inputs.
std::vector<std::string> optimizersOf(const std::optional<int64_t> &baseWidth);
/// The command that trains a run.
std::string commandOf(const PlanOptions &options, const PlannedRun &run);

} // namespace hybrid::rt::lab::scale
