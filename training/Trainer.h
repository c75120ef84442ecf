//===- Trainer.h - the training loop -----------------------------------------===//
//
// Fills batches from a source, takes steps, evaluates, reports and saves. A step is a pure function
// of the state and the step number, so a resumed run has the same bits as one that never stopped,
// whatever the bursts are that steps are taken in. A loss that is not finite ends the run, names
// the operation, and leaves the last checkpoint as it was.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/Checkpoint.h"
#include "training/Evaluate.h"
#include "training/OptimizerOptions.h"
#include "training/StepRunner.h"
#include "training/WarmStart.h"
#include "training/data/Source.h"
#include "training/record/RunRecord.h"
#include "training/record/Trace.h"
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace hybrid::rt {

/// Told of a run while it goes on.
class TrainObserver {
public:
  virtual ~TrainObserver() = default;
  /// After a periodic evaluation; `isFinal`: after the one that ends the run.
  virtual void evaluated(const EvaluationPoint &point, bool isFinal) {}
  /// The loss or the gradients of this step, counted from 0, are no numbers: the run ends with an
  /// error.
  virtual void diverged(int64_t step) {}
  /// Asked between steps: whether the run shall save, if it has a folder, and end there.
  virtual bool wantsStop() { return false; }
};

/// Steps of a run that have sequences of one length, in a run whose sequences grow: each length is
/// a program of its own, and a call of the trainer takes the steps of one. What a run writes is
/// that of one run.
struct LengthStage {
  int64_t first = 0, end = 0;    // steps from `first` to before `end`
  bool isLast = false;           // and the run with it
  std::string plan;              // all stages, as its settings say them
  int64_t length = 0, batch = 0; // of the last stage: sequences of a step
  uint64_t fingerprint = 0;      // of the programs of all stages
  bool has(int64_t step) const { return step >= first && step <= end; }
};

/// Writes texts with the parameters of a run as they are while it trains.
class TrainingSampler {
public:
  virtual ~TrainingSampler() = default;
  /// An object with what is to be kept of it; "text" is also shown.
  virtual Result<nlohmann::json> sample(StepRunner &runner, int64_t replica) = 0;
};

/// The schedule's `total` is filled in.
struct TrainOptions : OptimizerOptions {
  std::string out; // folder of the run; empty: nothing is written, and there is no resuming
  bool resume = false, quiet = false;
  uint64_t seed = 0;
  WarmStart warmStart; // parameters to begin with; an empty path: as drawn
  int64_t steps =
      0; // 0: as many as the time limit allows, decided once, from the first steps' speed
  int64_t reportEvery = 10, evalEvery = 100, checkpointEvery = 100, keep = 3;
  uint64_t evalExamples = 256, finalExamples = 1280;
  double stopAccuracy = 0;   // 0: off
  double averageDecay = 0;   // of an average of the parameters, a step; 0: none is kept
  int64_t averageEvery = 10; // steps from one time that it follows the parameters to the next
  double timeLimit = 0;      // seconds of training, evaluations included; 0: off
  nlohmann::json config;     // what config.json says besides: command, compiler, model
  TrainObserver *observer = nullptr;
  double skipOutliers = 0;          // standard deviations above which an update is left out; 0: off
  std::optional<LengthStage> stage; // of a run whose sequences grow: those of this call
  std::shared_ptr<TrainingSampler> sampler; // writes texts while training; null: nobody does
  int64_t sampleEvery = 0;                  // steps between them; on every rank the same
  std::shared_ptr<Trace> trace;             // is told where the time goes; null: nobody asks
  bool handleSignals = true; // SIGTERM, SIGUSR1 and SIGINT end the run; one such run a process
};

struct TrainOutcome {
  nlohmann::json summary; // null when interrupted
  /// The signal's name, "observer", or "stage" where the steps of a stage are taken; empty when the
  /// run came to its end.
  std::string interrupted;
  int64_t step = 0;
  std::vector<EvaluationPoint> curve; // periodic evaluations, those before a resume too
  EvaluationPoint final;              // at the end: over `finalExamples`
  double seconds = 0;                 // of training, evaluations included
};

Result<TrainOutcome> trainModel(StepRunner &runner, const Source &source, TrainOptions options);

/// One of several runs.
struct TrainRun {
  const Source *source = nullptr; // runs may share one, which then makes their batches once
  TrainOptions options;
};

/// Trains run r as replica r of the runner, all in lock-step: each gives what it gives alone. Runs
/// may differ in everything, but bursts of steps end where any of them evaluates, saves or ends, so
/// they best agree in that. Afterwards all replicas are active. One that fails or comes to its end
/// leaves the others alone. An error of the whole: more runs than replicas, or the device failed.
Result<std::vector<Result<TrainOutcome>>> trainModels(StepRunner &runner,
                                                      std::span<const TrainRun> runs);

} // namespace hybrid::rt
