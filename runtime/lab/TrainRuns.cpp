//===- TrainRuns.cpp - the runs of a study, trained ---------------------------===//
#include "runtime/lab/TrainRuns.h"
#include "runtime/Session.h"
#include "runtime/train/SessionRunner.h"
#include "runtime/train/Trainer.h"
#include <algorithm>
#include <cmath>

namespace hybrid::rt::lab {
namespace {

/// Follows a training: for the monitor, and to end it when it is solved.
class Observer final : public TrainObserver {
public:
  Observer(const TrainContext &context, RunMonitor *monitor, size_t place)
      : context(context), monitor(monitor), place(place) {}

  void evaluated(const EvaluationPoint &point, bool isFinal) override {
    if (isFinal)
      return;
    if (monitor)
      monitor->report(place, point.step);
    const Protocol &protocol = context.protocol;
    double accuracy = protocol.macro ? point.score.madAccuracy : point.score.accuracy;
    if (protocol.stopAbove > 0 && accuracy > protocol.stopAbove)
      solved = true;
  }
  bool wantsStop() override { return solved || (context.stop && context.stop()); }

  bool isSolved() const { return solved; }

private:
  const TrainContext &context;
  RunMonitor *monitor;
  size_t place;
  bool solved = false;
};

TrainOptions optionsOf(const Protocol &protocol, const Setting &setting, const Run &run) {
  TrainOptions options;
  options.quiet = true;
  options.handleSignals = false;
  options.seed = run.seed;
  options.steps = run.steps;
  options.schedule.kind = protocol.schedule;
  options.schedule.base = run.learningRate;
  options.schedule.least = protocol.leastRate;
  options.weightDecay = run.weightDecay;
  options.beta1 = protocol.beta1;
  options.beta2 = protocol.beta2;
  options.epsilon = protocol.epsilon;
  options.reportEvery = options.steps;
  options.evalEvery = protocol.evalEveryOf(setting);
  options.evalExamples = protocol.testExamples;
  options.finalExamples = protocol.testExamples;
  return options;
}

/// What the trainer says of a run that went to infinity.
bool isDivergence(const std::string &message) {
  return message.find(": the loss is ") != std::string::npos ||
         message.find("gradient's norm is ") != std::string::npos;
}

void fail(Run &run, const std::string &error) {
  run.status = "failed";
  run.error = error;
  run.diverged = isDivergence(error);
  run.loss = NAN;
  run.accuracy = run.madAccuracy = run.diverged ? run.chance : 0;
}

/// The outcome of the checkpoint that counts.
void record(const Protocol &protocol, const TrainOutcome &outcome, Run &run) {
  run.curve.clear();
  for (const EvaluationPoint &point : outcome.curve)
    run.curve.push_back(
        {point.step, point.score.loss, point.score.accuracy, point.score.madAccuracy});
  if (run.curve.empty())
    return fail(run, "the run ended before its first evaluation");
  const CurvePoint *chosen = &run.curve.back();
  if (protocol.bestCheckpoint)
    for (const CurvePoint &point : run.curve)
      if (point.loss < chosen->loss || (point.loss == chosen->loss && point.step < chosen->step))
        chosen = &point;
  run.status = "done";
  run.stepsDone = outcome.step;
  run.bestStep = chosen->step;
  run.loss = chosen->loss;
  run.accuracy = chosen->accuracy;
  run.madAccuracy = chosen->madAccuracy;
  run.seconds = outcome.seconds;
}

struct Prepared {
  std::unique_ptr<Session> session;
  std::unique_ptr<StepRunner> runner;
};

Result<Prepared> prepare(const std::shared_ptr<const Executable> &executable, int threads) {
  auto session = Session::create(executable, {threads, true});
  if (!session)
    return session.error();
  auto runner = makeSessionRunner(**session, true);
  if (!runner)
    return runner.error();
  return Prepared{std::move(*session), std::move(*runner)};
}

Result<std::unique_ptr<Source>> sourceOf(const Protocol &protocol, const Setting &setting,
                                         uint64_t seed) {
  auto task = createTask(setting.spec, protocol.convention);
  if (!task)
    return task.error();
  return makeTaskSource(std::move(*task), protocol.convention,
                        {seed, protocol.dataSeed, setting.trainExamples});
}

void trainOne(const TrainContext &context, const Setting &setting,
              const std::shared_ptr<const Executable> &executable, Run &run, RunMonitor &monitor,
              size_t place) {
  auto prepared = prepare(executable, context.threads);
  if (!prepared)
    return fail(run, prepared.error().message);
  auto source = sourceOf(context.protocol, setting, run.seed);
  if (!source)
    return fail(run, source.error().message);
  Observer observer(context, &monitor, place);
  TrainOptions options = optionsOf(context.protocol, setting, run);
  options.observer = &observer;
  auto outcome = trainModel(*prepared->runner, **source, options);
  if (!outcome)
    return fail(run, outcome.error().message);
  if (outcome->interrupted.empty() || observer.isSolved())
    record(context.protocol, *outcome, run);
}

} // namespace

RunExecutor trainingExecutor(TrainContext context) {
  return [context = std::move(context)](std::span<Run> runs, RunMonitor &monitor) {
    auto failAll = [&](const std::string &error) {
      for (Run &run : runs)
        fail(run, error);
    };
    auto setting = Setting::parse(runs.front().setting, context.protocol.convention);
    if (!setting)
      return failAll(setting.error().message);
    auto executable =
        context.provider({runs.front().architecture, *setting, runs.front().batch, 1});
    if (!executable)
      return failAll(executable.error().message);
    for (size_t i = 0; i < runs.size(); ++i)
      if (!context.stop || !context.stop())
        trainOne(context, *setting, *executable, runs[i], monitor, i);
  };
}

Result<double> estimateSeconds(const TrainContext &context, const ModelRequest &request) {
  auto executable = context.provider(request);
  if (!executable)
    return executable.error();
  const Protocol &protocol = context.protocol;
  Run run;
  run.learningRate = 1e-5; // nothing is to be learned
  run.steps = 6;
  TrainOptions options = optionsOf(protocol, request.setting, run);
  options.evalEvery = options.steps;
  options.evalExamples = options.finalExamples = static_cast<uint64_t>(request.batch);
  auto prepared = prepare(*executable, context.threads);
  if (!prepared)
    return prepared.error();
  auto source = sourceOf(protocol, request.setting, 0);
  if (!source)
    return source.error();
  double perStep = INFINITY, perBatch = INFINITY;
  for (int turn = 0; turn < 2; ++turn) { // the first warms caches
    auto outcome = trainModel(*prepared->runner, **source, options);
    if (!outcome)
      return outcome.error();
    double evaluation = outcome->summary.value("eval_seconds", 0.0);
    perBatch = std::min(perBatch, evaluation);
    perStep = std::min(perStep, std::max(0.0, outcome->seconds - evaluation) /
                                    static_cast<double>(options.steps));
  }
  int64_t steps = protocol.stepsOf(request.setting);
  int64_t evaluations = 1 + steps / protocol.evalEveryOf(request.setting);
  double batches =
      std::ceil(static_cast<double>(protocol.testExamples) / static_cast<double>(request.batch));
  return perStep * static_cast<double>(steps) +
         perBatch * batches * static_cast<double>(evaluations);
}

} // namespace hybrid::rt::lab
