//===- Trainer.cpp - the training loop ---------------------------------------===//
#include "runtime/train/Trainer.h"
#include "runtime/train/Progress.h"
#include "runtime/train/Signals.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <numbers>
#include <sys/resource.h>

namespace hybrid::rt {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

uint64_t peakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

/// The settings that decide the bits of a run.
json trajectoryOf(const TrainOptions &options, const StepRunner &runner, const Source &source) {
  json config = source.describe();
  config["seed"] = options.seed;
  config["batch"] = runner.batch();
  config["length"] = runner.length();
  config["steps"] = options.steps;
  config["schedule"] = nameOf(options.schedule.kind);
  config["lr"] = options.schedule.base;
  config["min_lr"] = options.schedule.least;
  config["warmup"] = options.schedule.warmup;
  config["warmup_lr"] = options.schedule.warmupStart;
  config["weight_decay"] = options.weightDecay;
  config["beta1"] = options.beta1;
  config["beta2"] = options.beta2;
  config["epsilon"] = options.epsilon;
  config["clip"] = options.clip;
  config["report_every"] = options.reportEvery;
  config["eval_every"] = options.evalEvery;
  config["eval_examples"] = options.evalExamples;
  config["stop_accuracy"] = options.stopAccuracy;
  return config;
}

/// One run, from opening its folder to its summary.
class Training {
public:
  Training(StepRunner &runner, const Source &source, TrainOptions &options, RunRecord &record)
      : runner(runner), source(source), options(options), kept(record), progress(options.quiet) {}

  Result<void> start();
  Result<TrainOutcome> run();

private:
  Result<void> resume();
  Result<void> step();
  Hyper hyperAt(int64_t step) const;
  Result<void> checkLoss(int64_t step, const BatchScore &score, bool updated);
  Result<void> account(int64_t step, const StepScore &score);
  Result<void> settle(int most);
  void fillBatch(int64_t step);
  void planSteps();
  Result<void> report();
  Result<void> evaluatePeriodically();
  Result<void> save();
  Result<TrainOutcome> finish();
  double elapsed() const { return secondsBefore + secondsSince(started); }
  bool timeIsOver() const { return options.timeLimit > 0 && elapsed() >= options.timeLimit; }
  bool stepsAreDone() const { return state.plannedSteps > 0 && state.step >= state.plannedSteps; }
  json evaluationLine(const EvaluationScore &score) const;
  Result<void> record(const json &line) { return kept.line(state.step, line); }
  const char *askedToStop(const StopSignals *signals) const;

  StepRunner &runner;
  const Source &source;
  TrainOptions &options;
  RunRecord &kept;
  Progress progress;
  RunState state;
  json trajectory;
  double secondsBefore = 0; // of training in earlier processes
  double stepSeconds = 0, intervalSeconds = 0, warmSeconds = 0, gradientNorm = 0, learningRate = 0;
  int64_t stepsHere = 0, savedStep = -1;
  int stepsStarted = 0; // on their way, of those that state.step counts
  Clock::time_point started;
};

Result<void> Training::resume() {
  std::vector<CheckpointFile> files = listCheckpoints(kept.checkpoints());
  if (files.empty()) {
    progress.note(
        fmt::format("nothing to resume in '{}': starting from the beginning", kept.path()));
    if (auto cut = kept.goBackTo(0); !cut)
      return cut.error();
    return {};
  }
  std::string fault;
  for (const CheckpointFile &file : files) {
    Result<RunState> loaded = loadCheckpoint(file.path, runner);
    if (!loaded) {
      fault = loaded.error().message;
      progress.note(fmt::format("warning: {}; trying the checkpoint before it", fault));
      continue;
    }
    if (loaded->fingerprint != runner.fingerprint())
      return Error{
          fmt::format("cannot resume from '{}': it was written by another executable "
                      "({:016x}, this one is {:016x}); compile the model as it was compiled "
                      "then",
                      file.path, loaded->fingerprint, runner.fingerprint())};
    if (std::string difference = describeDifference(trajectory, loaded->config);
        !difference.empty())
      return Error{
          fmt::format("cannot resume from '{}' with other settings: {}", file.path, difference)};
    auto seconds = kept.goBackTo(loaded->metricsLines);
    if (!seconds)
      return seconds.error();
    state = std::move(*loaded);
    secondsBefore = *seconds;
    savedStep = state.step;
    progress.note(fmt::format("resuming after step {} from '{}'", state.step, file.path));
    return {};
  }
  return Error{
      fmt::format("cannot resume: no checkpoint in '{}' can be used; the last one tried: {}",
                  kept.checkpoints(), fault)};
}

Result<void> Training::start() {
  trajectory = trajectoryOf(options, runner, source);
  // Through text and back, so that it compares equal to what a checkpoint gives back.
  trajectory =
      json::parse(trajectory.dump(-1, ' ', true, json::error_handler_t::replace), nullptr, false);
  state.plannedSteps = options.steps;
  if (auto done = runner.initialize(options.seed); !done)
    return done;
  if (options.resume)
    if (auto done = resume(); !done)
      return done;
  state.fingerprint = runner.fingerprint();
  state.config = trajectory;
  json config = options.config.is_object() ? options.config : json::object();
  config.update(trajectory);
  config["final_examples"] = options.finalExamples;
  config["checkpoint_every"] = options.checkpointEvery;
  config["keep"] = options.keep;
  config["time_limit"] = options.timeLimit;
  config["parameters"] = runner.parameterCount();
  config["fingerprint"] = fmt::format("{:016x}", runner.fingerprint());
  return kept.begin(state.step, config);
}

void Training::fillBatch(int64_t step) {
  std::span<int32_t> tokens = runner.tokens(true), targets = runner.targets(true);
  auto batch = static_cast<uint64_t>(runner.batch()),
       length = static_cast<uint64_t>(runner.length());
  auto positions = static_cast<uint64_t>(source.positions());
  for (uint64_t row = 0; row < batch; ++row) {
    std::span<int32_t> in = tokens.subspan(row * length, length);
    std::span<int32_t> out = targets.subspan(row * length, length);
    source.train(static_cast<uint64_t>(step) * batch + row, in.first(positions),
                 out.first(positions));
    padRow(in, out, source.positions());
  }
}

void Training::planSteps() {
  // The first steps warm caches and do not count. The plan follows the speed, which includes
  // evaluations and whatever else the machine does; a resumed run starts from the plan in its
  // checkpoint.
  constexpr int64_t ignored = 3, first = 12, every = 25;
  if (options.steps > 0 || options.timeLimit <= 0)
    return;
  if (stepsHere == ignored)
    warmSeconds = secondsSince(started);
  if (stepsHere != first && (stepsHere < first || stepsHere % every != 0))
    return;
  double perStep = (secondsSince(started) - warmSeconds) / static_cast<double>(stepsHere - ignored);
  double left = 0.97 * options.timeLimit - elapsed();
  state.plannedSteps = state.step + std::max<int64_t>(1, static_cast<int64_t>(left / perStep));
}

Hyper Training::hyperAt(int64_t step) const {
  Schedule schedule = options.schedule;
  // Not planned yet: the few steps until then are at the schedule's start.
  schedule.total = state.plannedSteps > 0 ? state.plannedSteps : int64_t{1} << 40;
  return {schedule.at(step), options.weightDecay, options.beta1, options.beta2,
          options.epsilon,   options.clip,        step + 1};
}

/// `step` had this loss: an error when it is no number.
Result<void> Training::checkLoss(int64_t step, const BatchScore &score, bool updated) {
  if (std::isfinite(score.loss))
    return {};
  while (updated && stepsStarted > 0) { // those after it are of no interest any more
    (void)runner.finishStep();
    --stepsStarted;
  }
  // Inputs share memory with temporaries: fill them again before the program is looked through.
  fillBatch(step);
  if (updated) {
    (void)runner.train();
    fillBatch(step);
  }
  std::string op = runner.findNonFinite();
  return Error{
      fmt::format("step {}: the loss is {}; {}. {}. Try a smaller --lr, --warmup or --clip 1",
                  step + 1, score.loss,
                  op.empty() ? "no single operation could be found"
                             : "the first value that is not finite came from " + op,
                  savedStep >= 0 ? fmt::format("The last good state is '{}/{}'", kept.checkpoints(),
                                               checkpointName(savedStep))
                                 : "No checkpoint had been written yet")};
}

Result<void> Training::account(int64_t step, const StepScore &score) {
  if (!std::isfinite(score.gradientNorm))
    return Error{fmt::format("step {}: the gradient's norm is {} although the loss is {}; the last "
                             "checkpoint is from step {}. Try --precision f64 to look closer",
                             step + 1, score.gradientNorm, score.batch.loss, savedStep)};
  gradientNorm = score.gradientNorm;
  state.interval.loss += score.batch.weight > 0 ? score.batch.loss * score.batch.weight : 0;
  state.interval.weight += score.batch.weight;
  state.interval.correct += score.batch.correct;
  ++state.intervalSteps;
  return {};
}

/// Waits until no more than `most` steps are on their way.
Result<void> Training::settle(int most) {
  Clock::time_point begin = Clock::now();
  while (stepsStarted > most) {
    int64_t step = state.step - stepsStarted;
    Result<StepScore> score = runner.finishStep();
    --stepsStarted;
    if (!score)
      return score.error();
    if (auto done = checkLoss(step, score->batch, /*updated=*/true); !done)
      return done;
    if (auto done = account(step, *score); !done)
      return done;
  }
  double seconds = secondsSince(begin);
  stepSeconds += seconds;
  intervalSeconds += seconds;
  return {};
}

Result<void> Training::step() {
  Clock::time_point begin = Clock::now();
  fillBatch(state.step);
  Hyper hyper = hyperAt(state.step);
  learningRate = hyper.learningRate;
  const int ahead = runner.stepsAhead();
  if (ahead > 0) {
    double settled = stepSeconds;
    if (auto done = settle(ahead - 1); !done)
      return done;
    begin += std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(stepSeconds - settled)); // counted already
    if (auto done = runner.startStep(hyper); !done)
      return done;
    ++stepsStarted;
  } else {
    Result<BatchScore> score = runner.train();
    if (!score)
      return score.error();
    if (auto done = checkLoss(state.step, *score, /*updated=*/false); !done)
      return done;
    Result<double> norm = runner.update(hyper);
    if (!norm)
      return norm.error();
    if (auto done = account(state.step, {*score, *norm}); !done)
      return done;
  }
  ++state.step;
  ++stepsHere;
  double seconds = secondsSince(begin);
  stepSeconds += seconds;
  intervalSeconds += seconds;
  planSteps();
  return {};
}

Result<void> Training::report() {
  double weight = std::max(state.interval.weight, 1e-300);
  double tokens = static_cast<double>(state.intervalSteps * runner.batch() * source.positions());
  ProgressReport now{state.step,
                     state.plannedSteps,
                     state.interval.loss / weight,
                     state.interval.correct / weight,
                     tokens / std::max(1e-9, intervalSeconds),
                     -1};
  if (state.plannedSteps && stepsHere > 0)
    now.secondsLeft = stepSeconds / static_cast<double>(stepsHere) *
                      static_cast<double>(state.plannedSteps - state.step);
  if (options.timeLimit > 0)
    now.secondsLeft = std::min(now.secondsLeft < 0 ? 1e9 : now.secondsLeft,
                               std::max(0.0, options.timeLimit - elapsed()));
  progress.update(now);
  json line = {{"step", state.step},
               {"split", "train"},
               {"loss", now.loss},
               {"accuracy", now.accuracy},
               {"tokens_per_second", now.tokensPerSecond},
               {"lr", learningRate},
               {"grad_norm", gradientNorm},
               {"seconds", elapsed()}};
  state.interval = {};
  state.intervalSteps = 0;
  intervalSeconds = 0;
  ++state.metricsLines;
  return record(line);
}

json Training::evaluationLine(const EvaluationScore &score) const {
  json line = {{"step", state.step},         {"split", "eval"},
               {"loss", score.loss},         {"accuracy", score.accuracy},
               {"examples", score.examples}, {"scored", score.scored},
               {"seconds", elapsed()}};
  if (score.madAccuracy >= 0)
    line["mad_accuracy"] = score.madAccuracy;
  if (source.isBytes())
    line["bits_per_byte"] = score.loss / std::numbers::ln2;
  return line;
}

Result<void> Training::evaluatePeriodically() {
  auto score = evaluate(runner, source, options.evalExamples);
  if (!score)
    return score.error();
  std::string text = fmt::format("step {}: eval loss {:.4f}, accuracy {:.4f}", state.step,
                                 score->loss, score->accuracy);
  if (source.isBytes())
    text += fmt::format(", {:.4f} bits per byte", score->loss / std::numbers::ln2);
  progress.note(text);
  ++state.metricsLines;
  if (auto done = record(evaluationLine(*score)); !done)
    return done;
  kept.curve.push_back({state.step, *score});
  if (options.observer)
    options.observer->evaluated(kept.curve.back(), false);
  if (options.stopAccuracy > 0 && score->accuracy >= options.stopAccuracy)
    state.finished = true;
  if (state.bestStep >= 0 && !(score->loss < state.bestLoss))
    return {};
  state.bestStep = state.step;
  state.bestLoss = score->loss;
  state.bestAccuracy = score->accuracy;
  return kept.saveBest(runner, state);
}

Result<void> Training::save() {
  if (savedStep == state.step || !kept.hasFolder())
    return {};
  if (auto done = settle(0); !done)
    return done;
  if (auto done = kept.save(runner, state, options.keep); !done)
    return done;
  savedStep = state.step;
  return {};
}

Result<TrainOutcome> Training::finish() {
  double trainSeconds = elapsed();
  Clock::time_point begin = Clock::now();
  auto score = evaluate(runner, source, options.finalExamples);
  if (!score)
    return score.error();
  json line = evaluationLine(*score);
  line["final"] = true;
  line["seconds"] = trainSeconds;
  if (auto done = record(line); !done)
    return done.error();
  double tokens = static_cast<double>(runner.batch() * source.positions());
  double perStep = stepSeconds / std::max<double>(1, static_cast<double>(stepsHere));
  json summary = {{"steps", state.step},
                  {"eval_loss", score->loss},
                  {"eval_accuracy", score->accuracy},
                  {"eval_examples", score->examples},
                  {"train_seconds", trainSeconds},
                  {"eval_seconds", secondsSince(begin)},
                  {"tokens_per_second", stepsHere > 0 ? json(tokens / perStep) : json(nullptr)},
                  {"tokens", state.step * runner.batch() * source.positions()},
                  {"peak_bytes", peakBytes()},
                  {"parameters", runner.parameterCount()}};
  if (kept.hasFolder())
    summary["checkpoint"] = "checkpoints/" + checkpointName(state.step);
  if (score->madAccuracy >= 0)
    summary["eval_mad_accuracy"] = score->madAccuracy;
  if (source.isBytes())
    summary["eval_bits_per_byte"] = score->loss / std::numbers::ln2;
  if (state.bestStep >= 0)
    summary["best"] = {{"step", state.bestStep},
                       {"eval_loss", state.bestLoss},
                       {"eval_accuracy", state.bestAccuracy}};
  if (auto done = kept.summary(summary); !done)
    return done.error();
  EvaluationPoint last{state.step, *score};
  if (options.observer)
    options.observer->evaluated(last, true);
  return TrainOutcome{summary, "", state.step, kept.curve, last, trainSeconds};
}

const char *Training::askedToStop(const StopSignals *signals) const {
  if (const char *signal = signals ? signals->received() : nullptr)
    return signal;
  return options.observer && options.observer->wantsStop() ? "observer" : nullptr;
}

Result<TrainOutcome> Training::run() {
  std::optional<StopSignals> signals;
  if (options.handleSignals)
    signals.emplace();
  started = Clock::now();
  while (!state.finished && !stepsAreDone() && !timeIsOver()) {
    if (auto done = step(); !done)
      return done.error();
    bool last = stepsAreDone() || timeIsOver();
    if (state.step % options.reportEvery == 0 || state.step % options.evalEvery == 0 || last)
      if (auto done = settle(0); !done)
        return done.error();
    if (state.step % options.reportEvery == 0 || last)
      if (auto done = report(); !done)
        return done.error();
    if (state.step % options.evalEvery == 0 || stepsAreDone())
      if (auto done = evaluatePeriodically(); !done)
        return done.error();
    const char *signal = askedToStop(signals ? &*signals : nullptr);
    if (state.step % options.checkpointEvery == 0 || state.finished || stepsAreDone() || signal)
      if (auto done = save(); !done)
        return done.error();
    if (signal && !state.finished && !stepsAreDone()) {
      if (auto done = settle(0); !done)
        return done.error();
      progress.note(
          fmt::format("stopped by {} after step {}{}", signal, state.step,
                      kept.hasFolder() ? "; the state is saved, continue with --resume" : ""));
      return TrainOutcome{nullptr, signal, state.step, kept.curve, {}, elapsed()};
    }
  }
  if (timeIsOver() && !stepsAreDone() && !state.finished)
    progress.note(
        fmt::format("the time limit of {} s is over after step {}", options.timeLimit, state.step));
  if (auto done = save(); !done)
    return done.error();
  return finish();
}

} // namespace

Result<TrainOutcome> trainModel(StepRunner &runner, const Source &source, TrainOptions options) {
  if (auto fits = checkFits(runner, source); !fits)
    return fits.error();
  Result<RunRecord> record = RunRecord::open(options.out, options.resume);
  if (!record)
    return record.error();
  Training training(runner, source, options, *record);
  if (auto done = training.start(); !done)
    return done.error();
  return training.run();
}

} // namespace hybrid::rt
