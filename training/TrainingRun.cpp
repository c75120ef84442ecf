//===- TrainingRun.cpp - one run among those that train together -------------===//
#include "training/TrainingRun.h"
#include "runtime/cpu/Team.h"
#include "training/Ranks.h"
#include "training/Trajectory.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sys/resource.h>

namespace hybrid::rt {

using nlohmann::json;

static uint64_t peakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

/// Of the program, or the programs, that a run's steps are.
static uint64_t fingerprintOf(const TrainOptions &options, const StepRunner &runner) {
  return options.stage ? options.stage->fingerprint : runner.fingerprint();
}

TrainingRun::TrainingRun(StepRunner &runner, int64_t replica, const TrainRun &run)
    : runner(runner), place(replica), data(run.source), settings(run.options),
      progress(run.options.quiet) {}

double TrainingRun::elapsed() const {
  return secondsBefore + std::chrono::duration<double>(Clock::now() - started).count();
}

//===-- the beginning ------------------------------------------------------------===//

Result<void> TrainingRun::open() {
  if (runner.ranks() && settings.timeLimit > 0)
    return Error{"--time-limit: ranks that train together have no common clock; give --steps, and "
                 "let the scheduler send SIGUSR1 before the time is over"};
  if (auto fits = checkFits(runner, *data); !fits)
    return fits;
  if (beginsWarm()) // before there is a folder
    if (auto fits = checkWarmStart(settings.warmStart, runner, place); !fits)
      return fits;
  const bool keeps = isFirst(runner); // the others get the state of the first rank
  Result<RunRecord> opened = RunRecord::open(settings.out, settings.resume && keeps);
  if (!opened)
    return opened.error();
  record.emplace(std::move(*opened));
  auto folder = agree(runner, record->hasFolder() ? 1 : 0);
  if (!folder)
    return folder.error();
  hasFolder = *folder != 0;
  return {};
}

Result<void> TrainingRun::resume() {
  Communicator *ranks = runner.ranks();
  if (!ranks)
    return resumeFromFolder();
  if (ranks->isFirst())
    if (auto done = resumeFromFolder(); !done)
      return done;
  // Where there is nothing to resume, all begin as the first does.
  auto saved = agree(runner, ranks->isFirst() ? savedStep : -1);
  if (!saved)
    return saved.error();
  savedStep = *saved;
  return savedStep < 0 ? Result<void>() : takeStateOfFirst(*ranks);
}

/// The state of the first rank, which has the folder, becomes that of all.
Result<void> TrainingRun::takeStateOfFirst(Communicator &ranks) {
  const std::string own = serialized(state);
  auto states = ranks.run([&](Transport &transport) {
    return gatherAll(transport, ranks.isFirst() ? std::as_bytes(std::span(own))
                                                : std::span<const std::byte>());
  });
  if (!states)
    return states.error();
  const std::vector<std::byte> &first = states->front();
  if (auto read = readRunState({reinterpret_cast<const char *>(first.data()), first.size()}))
    state = std::move(*read);
  else
    return Error{"the first rank sent no state of a run"};
  const std::vector<StateTensor> tensors = runner.state(place);
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<std::byte> bytes(tensors[i].data.begin(), tensors[i].data.end());
    auto sent =
        ranks.run([&](Transport &transport) { return broadcast(transport, std::span(bytes)); });
    if (!sent)
      return sent;
    if (auto done = runner.setState(place, i, bytes); !done)
      return done;
  }
  return {};
}

/// That the settings are those of the checkpoint, but for the run's end; another end is noted in
/// them, so that they say all that the bits depend on.
Result<void> TrainingRun::takeUp(RunState &loaded, const std::string &path) {
  const json then = loaded.config, before = endBefore(trajectory, then);
  if (then.contains("extended"))
    trajectory["extended"] = then["extended"];
  if (std::string difference = describeDifference(withoutEnd(trajectory), withoutEnd(then));
      !difference.empty())
    return Error{fmt::format("cannot resume from '{}' with other settings: {}", path, difference)};
  if (before.empty())
    return {};
  if (settings.steps > 0 && settings.steps < loaded.step)
    return Error{fmt::format("cannot resume from '{}' with --steps {}: the run has done {}", path,
                             settings.steps, loaded.step)};
  json ends = trajectory, ended = then;
  for (json *object : {&ends, &ended})
    for (auto item = object->begin(); item != object->end();)
      item = before.contains(item.key()) ? std::next(item) : object->erase(item);
  progress.note(
      fmt::format("another end from step {} on: {}", loaded.step, describeDifference(ends, ended)));
  trajectory["extended"].push_back({{"after", loaded.step}, {"was", before}});
  if (settings.steps > 0)
    loaded.plannedSteps = settings.steps;
  if (before.contains("stop_accuracy"))
    loaded.finished = false;
  return {};
}

Result<void> TrainingRun::resumeFromFolder() {
  std::vector<CheckpointFile> files = listCheckpoints(record->checkpoints());
  if (files.empty()) {
    progress.note(
        fmt::format("nothing to resume in '{}': starting from the beginning", record->path()));
    if (auto cut = record->goBackTo(0); !cut)
      return cut.error();
    return {};
  }
  std::string fault;
  for (const CheckpointFile &file : files) {
    Result<RunState> loaded = loadCheckpoint(file.path, runner, place);
    if (!loaded) {
      fault = loaded.error().message;
      progress.note(fmt::format("warning: {}; trying the checkpoint before it", fault));
      continue;
    }
    const uint64_t wanted = fingerprintOf(settings, runner);
    if (loaded->fingerprint != wanted)
      return Error{
          fmt::format("cannot resume from '{}': it was written by another executable "
                      "({:016x}, this one is {:016x}); compile the model as it was compiled "
                      "then",
                      file.path, loaded->fingerprint, wanted)};
    if (auto done = takeUp(*loaded, file.path); !done)
      return done;
    auto seconds = record->goBackTo(loaded->metricsLines);
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
                  record->checkpoints(), fault)};
}

Result<void> TrainingRun::start() {
  trajectory = trajectoryOf(settings, runner, *data);
  // Through text and back, so that it compares equal to what a checkpoint gives back.
  trajectory =
      json::parse(trajectory.dump(-1, ' ', true, json::error_handler_t::replace), nullptr, false);
  state.plannedSteps = settings.steps;
  if (beginsWarm()) {
    auto told = startWarm(settings.warmStart, runner, place);
    if (!told)
      return told.error();
    progress.note(*told);
  }
  if (settings.averageDecay > 0)
    if (auto done = runner.keepAverage(place); !done)
      return done;
  if (settings.resume)
    if (auto done = resume(); !done)
      return done;
  runner.releaseState();
  nextStep = state.step;
  if (settings.stage && state.step == settings.stage->first)
    state.bestStep = -1; // losses of other lengths say other things
  if (settings.skipOutliers > 0) {
    if (!state.outliers)
      state.outliers.emplace();
    losses.restore(state.outliers->losses);
    norms.restore(state.outliers->norms);
  }
  state.fingerprint = fingerprintOf(settings, runner);
  state.config = trajectory;
  if (data->tokenizer())
    state.tokenizer = data->tokenizer()->serialized();
  json config = settings.config.is_object() ? settings.config : json::object();
  config.update(trajectory);
  config.update(data->describe());
  config["final_examples"] = settings.finalExamples;
  config["checkpoint_every"] = settings.checkpointEvery;
  config["keep"] = settings.keep;
  config["time_limit"] = settings.timeLimit;
  config["parameters"] = runner.parameterCount();
  config["fingerprint"] = fmt::format("{:016x}", state.fingerprint);
  if (settings.sampler)
    if (auto done = record->cutSamples(state.step); !done)
      return done;
  return record->begin(state.step, config);
}

//===-- steps --------------------------------------------------------------------===//

// Steps are planned by the clock once: after these many, the first of which warm caches and do not
// count, or after a share of the time limit when that is later, so that what is measured is no
// moment of the machine's. The plan stays when the speed changes: the learning rate follows the
// steps that were planned, not the neighbours. A resumed run has the plan of its checkpoint.
constexpr int64_t ignoredSteps = 3, firstPlan = 12;
constexpr double measuredShare = 0.02, plannedShare = 0.97;

int64_t TrainingRun::stepsToBoundary() const {
  auto toMultiple = [this](int64_t every) { return every - nextStep % every; };
  int64_t distance = toMultiple(settings.evalEvery);
  if (hasFolder)
    distance = std::min(distance, toMultiple(settings.checkpointEvery));
  if (settings.averageDecay > 0)
    distance = std::min(distance, toMultiple(settings.averageEvery));
  if (settings.sampleEvery > 0)
    distance = std::min(distance, toMultiple(settings.sampleEvery));
  if (settings.stage)
    distance = std::min(distance, settings.stage->end - nextStep);
  if (state.plannedSteps > 0)
    distance = std::min(distance, state.plannedSteps - nextStep);
  if (awaitsPlan()) {
    const int64_t here = stepsHere + nextStep - state.step;
    distance = std::min<int64_t>(distance, here < ignoredSteps ? ignoredSteps - here
                                           : here < firstPlan  ? firstPlan - here
                                                               : 1);
  }
  return std::max<int64_t>(0, distance);
}

void TrainingRun::fill(int64_t step, int64_t inBurst) const {
  BatchMemory memory = runner.trainingBatch(place, inBurst);
  const RankPlace ranks = placeOf(runner);
  const auto batch = static_cast<uint64_t>(runner.batch()),
             first = static_cast<uint64_t>(step * runner.stepSequences());
  // Of each batch of all ranks, this one's part.
  auto placeInStep = [&](uint64_t row) {
    return (row / batch * static_cast<uint64_t>(ranks.count) + static_cast<uint64_t>(ranks.rank)) *
               batch +
           row % batch;
  };
  const int64_t here = runner.stepSequences() / ranks.count;
  parallelFor(here, threadsForBatch(runner), [&](int64_t low, int64_t high, int) {
    for (auto row = static_cast<uint64_t>(low); row < static_cast<uint64_t>(high); ++row) {
      BatchRow slot(memory, runner, *data, row);
      data->train(first + placeInStep(row), slot.inputs(), slot.targets());
      slot.padFrom(data->positions());
    }
  });
}

bool TrainingRun::readsAllExamples() const {
  const int64_t left = settings.steps - state.step;
  return settings.steps <= 0 ||
         static_cast<uint64_t>(left * runner.stepSequences()) >= data->shuffledSet().size;
}

Examples::Set TrainingRun::examples() const {
  return {data->shuffledSet().size,
          [this](uint64_t example, std::span<int32_t> inputs, std::span<int32_t> targets) {
            BatchRow slot({inputs, targets}, runner, *data, 0);
            data->example(example, slot.inputs(), slot.targets());
            slot.padFrom(data->positions());
          }};
}

Hyper TrainingRun::hyperAt(int64_t step) const {
  OptimizerOptions optimizer = settings;
  // Not planned yet: the few steps until then are at the schedule's start.
  optimizer.schedule.total = state.plannedSteps > 0 ? state.plannedSteps : int64_t{1} << 40;
  return optimizer.at(step);
}

void TrainingRun::fillNext(int64_t inBurst, const TrainingRun *twin) {
  const auto first = static_cast<uint64_t>(nextStep * runner.stepSequences());
  if (runner.takeExamples(place, inBurst, first)) {
    // From those held, in the order that fill() has.
  } else if (twin) {
    BatchMemory from = runner.trainingBatch(twin->place, inBurst),
                to = runner.trainingBatch(place, inBurst);
    std::copy(from.tokens.begin(), from.tokens.end(), to.tokens.begin());
    std::copy(from.targets.begin(), from.targets.end(), to.targets.begin());
  } else {
    fill(nextStep, inBurst);
  }
  runner.setHyper(place, inBurst, hyperAt(nextStep));
  ++nextStep;
}

bool TrainingRun::takesUpdate(const StepScore &score) {
  if (settings.skipOutliers <= 0)
    return true;
  const double loss = losses.add(score.batch.loss), norm = norms.add(score.gradientNorm);
  state.outliers->losses = losses.values();
  state.outliers->norms = norms.values();
  if (loss <= settings.skipOutliers && norm <= settings.skipOutliers)
    return true;
  ++state.outliers->leftOut;
  progress.note(fmt::format("step {}: its update is left out: the loss {:.4g} is {:.1f} and the "
                            "gradient's norm {:.4g} {:.1f} standard deviations above the last {}",
                            state.step + 1, score.batch.loss, loss, score.gradientNorm, norm,
                            OutlierWindow::size));
  return false;
}

Result<void> TrainingRun::account(const StepScore &score, double seconds, double before) {
  const int64_t step = state.step;
  const bool finite = std::isfinite(score.batch.loss) && std::isfinite(score.gradientNorm);
  if (!finite && settings.observer)
    settings.observer->diverged(step);
  if (!std::isfinite(score.batch.loss)) {
    nonFinite.emplace(step, score.batch.loss);
    return Error{fmt::format("step {}: the loss is {}", step + 1, score.batch.loss)};
  }
  if (!std::isfinite(score.gradientNorm))
    return Error{fmt::format("step {}: the gradient's norm is {} although the loss is {}; the last "
                             "checkpoint is from step {}. Try --precision f64 to look closer",
                             step + 1, score.gradientNorm, score.batch.loss, savedStep)};
  gradientNorm = score.gradientNorm;
  state.interval.loss += score.batch.weight > 0 ? score.batch.loss * score.batch.weight : 0;
  state.interval.weight += score.batch.weight;
  state.interval.correct += score.batch.correct;
  ++state.intervalSteps;
  ++state.step;
  ++stepsHere;
  stepSeconds += seconds;
  intervalSeconds += seconds;
  if (state.step % settings.reportEvery == 0 || stepsAreDone())
    return report(elapsed() - before);
  return {};
}

Error TrainingRun::explainNonFiniteLoss() {
  const auto [step, loss] = *nonFinite;
  std::string op = runner.findNonFinite(place, [this, step = step] { fill(step, 0); });
  if (Communicator *ranks = runner.ranks()) {
    auto found = ranks->run(
        [&](Transport &transport) { return gatherAll(transport, std::as_bytes(std::span(op))); });
    op.clear();
    for (size_t rank = 0; found && op.empty() && rank < found->size(); ++rank)
      if (const std::vector<std::byte> &text = (*found)[rank]; !text.empty())
        op = fmt::format("{} on rank {}",
                         std::string_view(reinterpret_cast<const char *>(text.data()), text.size()),
                         rank);
  }
  return Error{fmt::format(
      "step {}: the loss is {}; {}. {}. Try a smaller --lr, --warmup or --clip 1", step + 1, loss,
      op.empty() ? "no single operation could be found"
                 : "the first value that is not finite came from " + op,
      lastGoodState())};
}

std::string TrainingRun::lastGoodState() const {
  return savedStep >= 0 ? fmt::format("The last good state is '{}/{}'", record->checkpoints(),
                                      checkpointName(savedStep))
                        : "No checkpoint had been written yet";
}

void TrainingRun::planSteps() {
  if (!awaitsPlan())
    return;
  const double here = elapsed() - secondsBefore;
  if (stepsHere == ignoredSteps)
    warmSeconds = here;
  if (stepsHere < firstPlan || here < measuredShare * settings.timeLimit)
    return;
  const double perStep = (here - warmSeconds) / static_cast<double>(stepsHere - ignoredSteps);
  const double left = plannedShare * settings.timeLimit - elapsed();
  state.plannedSteps = state.step + std::max<int64_t>(1, static_cast<int64_t>(left / perStep));
  progress.note(fmt::format("{} steps fit into {} s at {:.3g} s a step: the learning rate is "
                            "planned for them",
                            state.plannedSteps, settings.timeLimit, perStep));
}

/// `seconds`: of training, when the last of these steps was done.
Result<void> TrainingRun::report(double seconds) {
  double weight = std::max(state.interval.weight, 1e-300);
  double tokens =
      static_cast<double>(state.intervalSteps * runner.stepSequences() * data->positions());
  ProgressReport now{state.step,
                     state.plannedSteps,
                     state.interval.loss / weight,
                     state.interval.correct / weight,
                     tokens / std::max(1e-9, intervalSeconds),
                     -1};
  if (state.plannedSteps && stepsHere > 0)
    now.secondsLeft = stepSeconds / static_cast<double>(stepsHere) *
                      static_cast<double>(state.plannedSteps - state.step);
  if (settings.timeLimit > 0)
    now.secondsLeft = std::min(now.secondsLeft < 0 ? 1e9 : now.secondsLeft,
                               std::max(0.0, settings.timeLimit - elapsed()));
  progress.update(now);
  json line = {{"step", state.step},
               {"split", "train"},
               {"loss", now.loss},
               {"accuracy", now.accuracy},
               {"tokens_per_second", now.tokensPerSecond},
               {"lr", hyperAt(state.step - 1).learningRate},
               {"grad_norm", gradientNorm},
               {"seconds", seconds}};
  if (settings.stage)
    line["length"] = runner.length();
  if (state.outliers)
    line["updates_left_out"] = state.outliers->leftOut;
  state.interval = {};
  state.intervalSteps = 0;
  intervalSeconds = 0;
  ++state.metricsLines;
  return record->line(state.step, line);
}

//===-- between bursts -----------------------------------------------------------===//

json TrainingRun::evaluationLine(const EvaluationScore &score) const {
  json line = {{"step", state.step},         {"split", "eval"},
               {"loss", score.loss},         {"accuracy", score.accuracy},
               {"examples", score.examples}, {"scored", score.scored},
               {"seconds", elapsed()}};
  if (settings.stage)
    line["length"] = runner.length();
  if (score.madAccuracy >= 0)
    line["mad_accuracy"] = score.madAccuracy;
  if (score.sequenceAccuracy >= 0 && !data->isBytes())
    line["sequence_accuracy"] = score.sequenceAccuracy;
  if (data->bytesPerToken() > 0)
    line["bits_per_byte"] = data->bitsPerByte(score.loss);
  return line;
}

bool TrainingRun::evaluatesNow() const {
  return state.step % settings.evalEvery == 0 || stepsAreDone();
}

Result<void> TrainingRun::evaluated(const EvaluationScore &score) {
  // What is measured here came of updates that were finite, and is in no checkpoint yet.
  if (!std::isfinite(score.loss)) {
    if (settings.observer)
      settings.observer->diverged(state.step - 1);
    return Error{fmt::format(
        "step {}: the evaluation's loss is {} although the updates up to there were finite. {}. "
        "Try a smaller --lr, --warmup or --clip 1",
        state.step, score.loss, lastGoodState())};
  }
  std::string text = fmt::format("step {}: eval loss {:.4f}, accuracy {:.4f}", state.step,
                                 score.loss, score.accuracy);
  if (data->bytesPerToken() > 0)
    text += fmt::format(", {:.4f} bits per byte", data->bitsPerByte(score.loss));
  progress.note(text);
  ++state.metricsLines;
  if (auto done = record->line(state.step, evaluationLine(score)); !done)
    return done;
  record->curve.push_back({state.step, score});
  if (settings.observer)
    settings.observer->evaluated(record->curve.back(), false);
  if (settings.stopAccuracy > 0 && score.accuracy >= settings.stopAccuracy)
    state.finished = true;
  if (state.bestStep >= 0 && !(score.loss < state.bestLoss))
    return {};
  state.bestStep = state.step;
  state.bestLoss = score.loss;
  state.bestAccuracy = score.accuracy;
  return keepState([this] { return record->saveBest(runner, place, state); });
}

/// All ranks do it together where they have shares of the state: the one with the folder writes it.
Result<void> TrainingRun::keepState(const std::function<Result<void>()> &write) {
  if (!hasFolder)
    return {};
  if (auto done = runner.collectState(); !done)
    return done;
  auto done = write();
  runner.releaseState();
  return done;
}

/// Who has no folder does not know what has been made.
Result<bool> TrainingRun::evaluationIsDue() const {
  const bool isOfAnotherStage = settings.stage && !settings.stage->has(state.step);
  const bool isDue = state.step > 0 && evaluatesNow() && !isOfAnotherStage &&
                     (record->curve.empty() || record->curve.back().step != state.step);
  auto any = agree(runner, isFirst(runner) && isDue ? 1 : 0);
  return any ? Result<bool>(*any != 0) : any.error();
}

Result<void> TrainingRun::saveAgain() {
  savedStep = -1;
  return save();
}

void TrainingRun::averageParameters() {
  if (settings.averageDecay <= 0 || state.step == 0 || state.step % settings.averageEvery != 0 ||
      averagedStep == state.step)
    return;
  averagedStep = state.step;
  // At first the mean of what it has seen, so that the values drawn have no part in it.
  const auto times = static_cast<double>(state.step / settings.averageEvery);
  const double kept = std::pow(settings.averageDecay, static_cast<double>(settings.averageEvery));
  runner.average(place, std::max(1 - kept, 1 / times));
}

Result<void> TrainingRun::sampleWhenDue() {
  if (!settings.sampler || !hasFolder || state.step == 0 || sampledStep == state.step ||
      !(state.step % settings.sampleEvery == 0 || stepsAreDone()))
    return {};
  sampledStep = state.step;
  auto sample = settings.sampler->sample(runner, place);
  if (!sample)
    return sample.error();
  progress.note(fmt::format("step {}: {}", state.step, sample->value("text", "")));
  (*sample)["step"] = state.step;
  return record->sample(*sample);
}

bool TrainingRun::stageIsOver() const {
  if (!settings.stage || state.finished)
    return false;
  const LengthStage &stage = *settings.stage;
  return !stage.has(state.step) || (!stage.isLast && state.step == stage.end);
}

Result<TrainOutcome> TrainingRun::leaveStage() {
  if (settings.stage->has(state.step))
    if (auto done = save(); !done)
      return done.error();
  return TrainOutcome{nullptr, "stage", state.step, record->curve, {}, elapsed()};
}

bool TrainingRun::savesNow() const {
  return state.step % settings.checkpointEvery == 0 || isComplete();
}

Result<void> TrainingRun::save() {
  if (savedStep == state.step || !hasFolder)
    return {};
  if (auto done = keepState([this] { return record->save(runner, place, state, settings.keep); });
      !done)
    return done;
  savedStep = state.step;
  return {};
}

//===-- the end ------------------------------------------------------------------===//

Result<void> TrainingRun::close() {
  if (!isComplete()) {
    if (state.intervalSteps > 0)
      if (auto done = report(elapsed()); !done)
        return done;
    progress.note(fmt::format(
        "the time limit of {} s is over after step {}{}", settings.timeLimit, state.step,
        state.plannedSteps > 0 ? fmt::format(" of {}; the learning rate is {:.3g} there",
                                             state.plannedSteps, hyperAt(state.step).learningRate)
                               : ""));
  }
  trainSeconds = elapsed();
  closed = true;
  return save();
}

Result<TrainOutcome> TrainingRun::finish(const EvaluationScore &score) {
  json line = evaluationLine(score);
  line["final"] = true;
  line["seconds"] = trainSeconds;
  if (auto done = record->line(state.step, line); !done)
    return done.error();
  double tokens = static_cast<double>(runner.stepSequences() * data->positions());
  double perStep = stepSeconds / std::max<double>(1, static_cast<double>(stepsHere));
  json summary = {{"steps", state.step},
                  {"eval_loss", score.loss},
                  {"eval_accuracy", score.accuracy},
                  {"eval_examples", score.examples},
                  {"train_seconds", trainSeconds},
                  {"eval_seconds", elapsed() - trainSeconds},
                  {"tokens_per_second", stepsHere > 0 ? json(tokens / perStep) : json(nullptr)},
                  {"tokens", state.step * runner.stepSequences() * data->positions()},
                  {"peak_bytes", peakBytes()},
                  {"allocated_bytes", runner.allocatedBytes()},
                  {"parameters", runner.parameterCount()}};
  if (state.outliers)
    summary["updates_left_out"] = state.outliers->leftOut;
  if (Communicator *ranks = runner.ranks()) {
    const Communicator::Traffic traffic = ranks->traffic();
    summary["ranks"] = {{"count", ranks->size()},
                        {"sent_bytes", traffic.sentBytes},
                        {"communication_seconds", traffic.busySeconds},
                        {"waited_seconds", traffic.waitedSeconds}};
  }
  if (record->hasFolder())
    summary["checkpoint"] = "checkpoints/" + checkpointName(state.step);
  if (score.madAccuracy >= 0)
    summary["eval_mad_accuracy"] = score.madAccuracy;
  if (score.sequenceAccuracy >= 0 && !data->isBytes())
    summary["eval_sequence_accuracy"] = score.sequenceAccuracy;
  if (data->inputNumbers() > 0) {
    summary["eval_relative_loss"] = score.loss / static_cast<double>(data->inputNumbers());
    summary["eval_least_squares_loss"] = data->referenceLoss(score.examples);
  }
  if (data->bytesPerToken() > 0)
    summary["eval_bits_per_byte"] = data->bitsPerByte(score.loss);
  if (state.bestStep >= 0)
    summary["best"] = {{"step", state.bestStep},
                       {"eval_loss", state.bestLoss},
                       {"eval_accuracy", state.bestAccuracy}};
  if (auto done = record->summary(summary); !done)
    return done.error();
  EvaluationPoint last{state.step, score};
  if (settings.observer)
    settings.observer->evaluated(last, true);
  return TrainOutcome{summary, "", state.step, record->curve, last, trainSeconds};
}

TrainOutcome TrainingRun::interrupt(const char *who) {
  progress.note(
      fmt::format("stopped by {} after step {}{}", who, state.step,
                  record->hasFolder() ? "; the state is saved, continue with --resume" : ""));
  return TrainOutcome{nullptr, who, state.step, record->curve, {}, elapsed()};
}

} // namespace hybrid::rt
