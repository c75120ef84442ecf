//===- Train.cpp - the runs of a scaling study, trained -------------------------------===//
#include "laboratory/scale/Train.h"
#include "runtime/cuda/Gpu.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "training/Trainer.h"
#include "training/compile/ModelSpec.h"
#include "training/data/DataChoice.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <unistd.h>

namespace hybrid::rt::lab::scale {
namespace {

/// Evaluations of a run but the last, each of a part of the held-out windows: they tell whether it
/// diverges.
constexpr int64_t evaluations = 4;
constexpr uint64_t partEvaluated = 8;
/// What a step is measured for.
constexpr double measuredSeconds = 0.3;

/// The parts of a training that do not depend on its rate.
struct Workplace {
  PreparedSession prepared;
  std::unique_ptr<Source> source;
};

Result<Workplace> workplaceOf(const ScaleProtocol &protocol, const std::string &path,
                              const std::vector<std::string> &settings, int64_t batch,
                              uint64_t seed, int threads) {
  ModelSpec model;
  model.path = path;
  model.batch = batch;
  model.length = protocol.length;
  model.precision = protocol.precision;
  model.device = protocol.processor;
  model.settings = settings;
  model.optimizers = optimizersOf(protocol.baseWidth);
  model.quiet = true;
  auto executable = model.load();
  if (!executable)
    return executable.error();
  auto prepared = prepareSession(*executable, threads);
  if (!prepared)
    return prepared.error();
  DataChoice data;
  data.data = {protocol.data};
  auto source = data.open(protocol.length, seed);
  if (!source)
    return source.error();
  return Workplace{std::move(*prepared), std::move(*source)};
}

TrainOptions optionsOf(const ScaleProtocol &protocol, const Run &run, double rate) {
  TrainOptions options;
  options.quiet = true;
  options.handleSignals = false;
  options.seed = run.seed;
  options.steps = run.steps;
  // Appendix C of Poli et al. 2024.
  options.schedule.kind = ScheduleKind::Cosine;
  options.schedule.base = rate;
  options.schedule.least = leastRateShare * rate;
  options.schedule.warmup =
      std::max<int64_t>(1, std::llround(warmupShare * static_cast<double>(run.steps)));
  options.weightDecay = run.weightDecay;
  options.beta1 = 0.9;
  options.beta2 = 0.95;
  options.reportEvery = run.steps;
  options.evalEvery = (run.steps + evaluations - 1) / evaluations;
  options.evalExamples = std::max<uint64_t>(1, protocol.evalExamples / partEvaluated);
  options.finalExamples = protocol.evalExamples;
  return options;
}

/// Ends a training that is worse than guessing.
class Observer final : public TrainObserver {
public:
  Observer(double worst, RunMonitor *monitor, const std::function<bool()> &stop)
      : worst(worst), monitor(monitor), stop(stop) {}

  void evaluated(const EvaluationPoint &point, bool) override {
    if (monitor)
      monitor->report(0, point.step);
    isWorse = isWorse || !(point.score.loss < worst);
  }
  void diverged(int64_t) override { isNoNumber = true; }
  bool wantsStop() override { return isWorse || (stop && stop()); }

  bool hasDiverged() const { return isWorse || isNoNumber; }

private:
  double worst;
  RunMonitor *monitor;
  const std::function<bool()> &stop;
  bool isWorse = false, isNoNumber = false;
};

Attempt attempt(Workplace &workplace, const ScaleProtocol &protocol, const Run &run, double rate,
                RunMonitor &monitor, const std::function<bool()> &stop) {
  Observer observer(std::log(static_cast<double>(workplace.source->vocabulary())), &monitor, stop);
  TrainOptions options = optionsOf(protocol, run, rate);
  options.observer = &observer;
  auto outcome = trainModel(*workplace.prepared.runner, *workplace.source, options);
  Attempt result;
  result.diverged = observer.hasDiverged();
  if (!outcome) {
    if (!result.diverged)
      result.error = outcome.error().message;
    return result;
  }
  result.isInterrupted = !outcome->interrupted.empty() && !result.diverged;
  result.steps = outcome->step;
  result.loss = outcome->final.score.loss;
  result.seconds = outcome->seconds;
  for (const EvaluationPoint &point : outcome->curve)
    result.curve.push_back({point.step, point.score.loss, point.score.accuracy, NAN});
  return result;
}

void trainRun(const ScaleProtocol &protocol, const Architecture &architecture, Run &run,
              RunMonitor &monitor, int threads, const std::function<bool()> &stop) {
  std::vector<std::string> settings;
  for (const auto &[name, value] : architecture.settings)
    settings.push_back(fmt::format("{}={}", name, value));
  auto workplace = workplaceOf(protocol, architecture.path, settings, run.batch, run.seed, threads);
  if (!workplace && stop && stop())
    return; // compiling was broken off
  trainOrRetry(run, [&](double rate) {
    if (workplace)
      return attempt(*workplace, protocol, run, rate, monitor, stop);
    Attempt failed;
    failed.error = workplace.error().message;
    return failed;
  });
}

} // namespace

void trainOrRetry(Run &run, const std::function<Attempt(double rate)> &train) {
  Attempt attempt = train(run.learningRate);
  const bool isAgain = attempt.diverged;
  if (isAgain)
    attempt = train(run.learningRate / 2);
  if (attempt.isInterrupted)
    return;
  run.curve = std::move(attempt.curve);
  run.stepsDone = run.bestStep = attempt.steps;
  run.loss = attempt.loss;
  run.seconds = attempt.seconds;
  run.diverged = isAgain;
  run.status = "done";
  if (!attempt.diverged && attempt.error.empty())
    return;
  run.status = "failed";
  run.diverged = attempt.diverged;
  run.loss = NAN;
  run.error = attempt.diverged ? fmt::format("diverged with a rate of {:.4g}, and with half of it",
                                             run.learningRate)
                               : attempt.error;
}

Result<RunExecutor> scaleExecutor(const Study &study, int threads, std::function<bool()> stop) {
  auto protocol = ScaleProtocol::fromJson(parseJsonOrNull(study.protocol));
  if (!protocol)
    return protocol.error();
  std::map<std::string, Architecture> architectures;
  std::map<std::string, std::string> sources; // by path
  for (const Architecture &each : study.architectures) {
    if (!sources.contains(each.path)) {
      auto source = readText(each.path);
      if (!source)
        return source.error();
      sources[each.path] = std::move(*source);
    }
    if (auto same = requireSameSource(each, sources[each.path]); !same)
      return same.error();
    architectures[each.name] = each;
  }
  return RunExecutor([protocol = *protocol, architectures = std::move(architectures), threads,
                      stop = std::move(stop)](std::span<Run> runs, RunMonitor &monitor) {
    for (Run &run : runs)
      trainRun(protocol, architectures.at(run.architecture), run, monitor, threads, stop);
  });
}

Result<void> measurePlan(const ScaleProtocol &protocol, int threads, std::vector<PlannedRun> &runs,
                         const std::function<void(const PlannedRun &)> &told) {
  std::map<std::string, StepTimes> known;
  for (PlannedRun &planned : runs) {
    const std::string key =
        fmt::format("{}\n{}\n{}", planned.architecture, planned.size, planned.batch);
    if (!known.contains(key)) {
      told(planned);
      auto workplace = workplaceOf(protocol, planned.path, planned.settings, planned.batch,
                                   /*seed=*/0, threads);
      if (!workplace)
        return workplace.error();
      Run run;
      run.steps = 1;
      auto times = measureTraining(*workplace->prepared.runner, *workplace->source,
                                   optionsOf(protocol, run, 1e-5), planned.batch, measuredSeconds);
      if (!times)
        return times.error();
      known.emplace(key, *times);
    }
    const StepTimes &times = known.at(key);
    const auto batches = static_cast<double>(protocol.evalExamples) *
                         (1 + static_cast<double>(evaluations) / partEvaluated) /
                         static_cast<double>(planned.batch);
    planned.seconds =
        times.step * static_cast<double>(planned.steps) + times.evaluation * std::ceil(batches);
  }
  return {};
}

Result<void> checkMemory(const std::vector<PlannedRun> &runs, int jobs, double bytes) {
  constexpr double gigabyte = 1e9;
  std::string text;
  for (const PlannedRun &run : runs)
    if (run.cost.bytes > bytes)
      text += fmt::format("{}{} of size {} at {:.3g} FLOPs takes {:.3g} GB with its batch of {}",
                          text.empty() ? "" : "; ", run.architecture, run.size, run.budget,
                          run.cost.bytes / gigabyte, run.batch);
  if (!text.empty())
    return Error{fmt::format("{}; there are {:.3g} GB: leave the size or the budget out", text,
                             bytes / gigabyte)};
  std::vector<double> needed;
  for (const PlannedRun &run : runs)
    needed.push_back(run.cost.bytes);
  std::sort(needed.rbegin(), needed.rend());
  needed.resize(std::min(needed.size(), static_cast<size_t>(jobs)));
  const double together = std::accumulate(needed.begin(), needed.end(), 0.0);
  if (together > bytes)
    return Error{fmt::format("the {} largest runs take {:.3g} GB together, and there are {:.3g}: "
                             "give fewer --jobs",
                             needed.size(), together / gigabyte, bytes / gigabyte)};
  return {};
}

Result<double> memoryOf(const std::string &processor) {
  if (processor == "cuda") {
    auto gpu = cuda::firstGpu();
    if (!gpu)
      return gpu.error();
    return static_cast<double>(gpu->memoryBytes);
  }
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

} // namespace hybrid::rt::lab::scale
