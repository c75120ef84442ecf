//===- TrainRuns.h - the runs of a study, trained -----------------------------===//
#pragma once
#include "laboratory/Protocol.h"
#include "laboratory/Worker.h"
#include "runtime/Executable.h"
#include "runtime/Session.h"
#include "training/Trainer.h"
#include <functional>
#include <memory>

namespace hybrid::rt::lab {

/// What a model is compiled for.
struct ModelRequest {
  std::string architecture; // a name of the study
  Setting setting;
  int64_t batch = 0, replicas = 1;
};
/// Compiles, or takes from a cache.
using ModelProvider =
    std::function<Result<std::shared_ptr<const Executable>>(const ModelRequest &)>;

/// What training needs beside its runs.
struct TrainContext {
  Protocol protocol;
  ModelProvider provider;
  int threads = 0;            // 0: all
  std::function<bool()> stop; // asked between steps
};

/// An executable, ready to train.
struct PreparedSession {
  std::unique_ptr<Session> session;
  std::unique_ptr<StepRunner> runner;
};
Result<PreparedSession> prepareSession(const std::shared_ptr<const Executable> &executable,
                                       int threads);

/// An executor that trains by the protocol.
RunExecutor trainingExecutor(TrainContext context);

/// Seconds of a step and of evaluating one batch.
struct StepTimes {
  double step = 0, evaluation = 0;
};
/// Measures steps for so many seconds, three at least, and evaluations of a batch. `options` are
/// those of the training but for its steps.
Result<StepTimes> measureTraining(StepRunner &runner, const Source &source, TrainOptions options,
                                  int64_t batch, double seconds);
/// Measures a few of each, on instances that are made as they are needed.
Result<StepTimes> measureSteps(const TrainContext &context, const ModelRequest &request);
/// Seconds of a run to its planned end.
double runSeconds(const Protocol &protocol, const Setting &setting, const StepTimes &times);

} // namespace hybrid::rt::lab
