//===- LengthWarmup.h - a training whose sequences grow ------------------------------===//
//
// Sequence length warm-up: the first steps have short sequences, as many more of them as they are
// shorter, so that a step has the same number of tokens throughout (Li et al. 2021, "The stability-
// efficiency dilemma"; Nguyen et al. 2023, HyenaDNA, section 3.2; Gu and Dao 2023, section 4.3).
// Each length is a program of its own, compiled from the same text; the run is one.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/Trainer.h"
#include "training/compile/ModelSpec.h"
#include <functional>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

/// "LENGTH:STEPS,LENGTH:STEPS,...": lengths that grow, each for so many steps, before --length.
struct LengthWarmup {
  struct Part {
    int64_t length, steps;
  };
  std::vector<Part> parts;

  bool isEmpty() const { return parts.empty(); }
  int64_t steps() const;
  std::string text() const;
  static Result<LengthWarmup> parse(const std::string &text);
};

/// A stage's program with its data.
struct OpenStage {
  std::unique_ptr<Session> session;
  std::unique_ptr<StepRunner> runner;
  std::unique_ptr<Source> source; // whose first instance is that of the run's step 0
};
/// Opens a model, one of the stages', with data for its length.
using OpenStageOf = std::function<Result<OpenStage>(const ModelSpec &model)>;

/// Trains stage after stage. `model` and `last` are those of the last stage, with --length; every
/// stage is compiled before the first step. Fails where the stages do not have one set of
/// parameters, or their data cannot be cut to every length without moving the split.
Result<TrainOutcome> trainByLength(const LengthWarmup &warmup, const ModelSpec &model,
                                   OpenStage last, const OpenStageOf &open, TrainOptions options);

} // namespace hybrid::rt::lab
