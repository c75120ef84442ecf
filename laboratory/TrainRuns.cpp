//===- TrainRuns.cpp - the runs of a study, trained ---------------------------===//
#include "laboratory/TrainRuns.h"
#include "training/SessionRunner.h"
#include <algorithm>
#include <cmath>
#include <map>

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
  void diverged(int64_t) override { divergence = true; }
  bool wantsStop() override { return solved || (context.stop && context.stop()); }

  bool isSolved() const { return solved; }
  bool hasDiverged() const { return divergence; }

private:
  const TrainContext &context;
  RunMonitor *monitor;
  size_t place;
  bool solved = false, divergence = false;
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
  options.schedule.warmup = std::llround(protocol.warmup * static_cast<double>(run.steps));
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

void fail(Run &run, const std::string &error, bool diverged = false) {
  run.status = "failed";
  run.error = error;
  run.diverged = diverged;
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

Result<std::unique_ptr<Source>> sourceOf(const Protocol &protocol, const Setting &setting,
                                         uint64_t seed) {
  auto task = createTask(setting.spec, protocol.convention);
  if (!task)
    return task.error();
  return makeTaskSource(std::move(*task), protocol.convention,
                        {seed, protocol.dataSeed, setting.trainExamples});
}

/// Trains runs as replicas of one program, in lock-step.
void trainTogether(const TrainContext &context, const Setting &setting,
                   const std::shared_ptr<const Executable> &executable, std::span<Run> runs,
                   RunMonitor &monitor) {
  auto failAll = [&](const std::string &error) {
    for (Run &run : runs)
      fail(run, error);
  };
  auto prepared = prepareSession(executable, context.threads);
  if (!prepared)
    return failAll(prepared.error().message);
  std::map<uint64_t, std::unique_ptr<Source>> sources; // runs of one seed make batches once
  std::vector<Observer> observers;
  std::vector<TrainRun> trainings;
  observers.reserve(runs.size()); // runs hold their addresses
  for (size_t i = 0; i < runs.size(); ++i) {
    std::unique_ptr<Source> &source = sources[runs[i].seed];
    if (!source) {
      auto made = sourceOf(context.protocol, setting, runs[i].seed);
      if (!made)
        return failAll(made.error().message);
      source = std::move(*made);
    }
    observers.emplace_back(context, &monitor, i);
    trainings.push_back({source.get(), optionsOf(context.protocol, setting, runs[i])});
    trainings.back().options.observer = &observers.back();
  }
  auto outcomes = trainModels(*prepared->runner, trainings);
  if (!outcomes)
    return failAll(outcomes.error().message);
  for (size_t i = 0; i < runs.size(); ++i) {
    const Result<TrainOutcome> &outcome = (*outcomes)[i];
    if (!outcome)
      fail(runs[i], outcome.error().message, observers[i].hasDiverged());
    else if (outcome->interrupted.empty() || observers[i].isSolved())
      record(context.protocol, *outcome, runs[i]);
  }
}

} // namespace

Result<PreparedSession> prepareSession(const std::shared_ptr<const Executable> &executable,
                                       int threads) {
  auto session = Session::create(executable, {threads, true});
  if (!session)
    return session.error();
  auto runner = makeSessionRunner(**session, true);
  if (!runner)
    return runner.error();
  return PreparedSession{std::move(*session), std::move(*runner)};
}

RunExecutor trainingExecutor(TrainContext context) {
  return [context = std::move(context)](std::span<Run> runs, RunMonitor &monitor) {
    auto failAll = [&](const std::string &error) {
      for (Run &run : runs)
        fail(run, error);
    };
    auto setting = Setting::parse(runs.front().setting, context.protocol.convention);
    if (!setting)
      return failAll(setting.error().message);
    auto executable = context.provider({runs.front().architecture, *setting, runs.front().batch,
                                        static_cast<int64_t>(runs.size())});
    if (!executable && context.stop && context.stop())
      return; // compiling was broken off, too
    if (!executable)
      return failAll(executable.error().message);
    trainTogether(context, *setting, *executable, runs, monitor);
  };
}

Result<StepTimes> measureTraining(StepRunner &runner, const Source &source, TrainOptions options,
                                  int64_t batch, double seconds) {
  constexpr int64_t fewest = 3, most = 1000;
  StepTimes times{INFINITY, INFINITY};
  for (bool isFirst : {true, false}) { // the first warms caches
    const double wanted = std::min(static_cast<double>(most), seconds / times.step);
    options.steps = isFirst ? 1 : std::max<int64_t>(fewest, std::llround(wanted));
    options.reportEvery = options.evalEvery = options.steps;
    options.evalExamples = options.finalExamples = static_cast<uint64_t>(batch);
    auto outcome = trainModel(runner, source, options);
    if (!outcome)
      return outcome.error();
    times.evaluation = std::min(times.evaluation, outcome->summary.value("eval_seconds", 0.0));
    times.step = std::min(times.step, std::max(0.0, outcome->seconds - times.evaluation) /
                                          static_cast<double>(options.steps));
  }
  return times;
}

Result<StepTimes> measureSteps(const TrainContext &context, const ModelRequest &request) {
  auto executable = context.provider(request);
  if (!executable)
    return executable.error();
  auto prepared = prepareSession(*executable, context.threads);
  if (!prepared)
    return prepared.error();
  Setting fresh = request.setting; // a set of instances takes long to make, and no step is faster
  fresh.trainExamples = 0;
  auto source = sourceOf(context.protocol, fresh, 0);
  if (!source)
    return source.error();
  Run run;
  run.learningRate = 1e-5; // nothing is to be learned
  run.steps = 1;
  TrainOptions options = optionsOf(context.protocol, request.setting, run);
  return measureTraining(*prepared->runner, **source, std::move(options), request.batch, 0);
}

double runSeconds(const Protocol &protocol, const Setting &setting, const StepTimes &times) {
  int64_t steps = protocol.stepsOf(setting);
  int64_t evaluations = 1 + steps / protocol.evalEveryOf(setting);
  double batches =
      std::ceil(static_cast<double>(protocol.testExamples) / static_cast<double>(protocol.batch));
  return times.step * static_cast<double>(steps) +
         times.evaluation * batches * static_cast<double>(evaluations);
}

} // namespace hybrid::rt::lab
