//===- Trainer.cpp - the training loop ---------------------------------------===//
#include "training/Trainer.h"
#include "training/Ranks.h"
#include "training/Signals.h"
#include "training/TrainingRun.h"
#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace hybrid::rt {
namespace {

using Clock = TrainingRun::Clock;

double secondsBetween(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Several runs in lock-step.
class LockStep {
public:
  LockStep(StepRunner &runner, std::span<const TrainRun> runs);
  Result<void> train();
  std::vector<Result<TrainOutcome>> takeOutcomes();

private:
  /// A run and what became of it.
  struct Member {
    std::unique_ptr<TrainingRun> run;
    std::optional<Error> failure; // seen, but not told yet: bursts are on their way
    std::optional<Result<TrainOutcome>> outcome;
    const char *stop = nullptr; // who asked it to
  };
  using Members = std::vector<Member *>;

  template <typename Predicate> Members membersThat(Predicate &&predicate) {
    Members chosen;
    for (Member &member : members)
      if (!member.outcome && predicate(member))
        chosen.push_back(&member);
    return chosen;
  }
  Members going() {
    return membersThat([](const Member &) { return true; });
  }
  Result<void> start();
  Result<void> holdExamples();
  Result<void> judgeUpdates();
  Result<void> takeSteps();
  Result<void> takeBurst();
  Result<void> settle(size_t most);
  Result<void> betweenBursts();
  Result<void> explainFailures();
  Result<void> leaveStages();
  Result<void> endThoseDone();
  Result<std::vector<EvaluationScore>> evaluateOnly(const Members &chosen, bool atTheEnd);
  Result<void> evaluateThose(const Members &evaluating);
  Result<void> evaluateWhatIsDue();
  Result<void> activate(const Members &chosen);
  void end(Member &member, Result<TrainOutcome> outcome) { member.outcome.emplace(outcome); }
  int64_t chooseSteps(int64_t distance) const;
  static std::vector<const TrainingRun *> twinsOf(const Members &taking);
  void askWhoStops();

  StepRunner &runner;
  std::vector<Member> members;
  std::optional<StopSignals> signals;
  const char *signal = nullptr; // the last that askWhoStops() found
  std::optional<Error> lost;    // other ranks, and why
  std::shared_ptr<Trace> trace; // of all runs; null: nobody asks
  std::deque<int64_t> bursts;   // on their way: their steps
  Clock::time_point mark;       // up to where time has been given to steps
  double secondsAStep = 0;      // of the fastest burst so far; 0: not known
  int64_t burstsDone = 0;
  bool atBoundary = false;
};

LockStep::LockStep(StepRunner &runner, std::span<const TrainRun> runs) : runner(runner) {
  for (const TrainRun &run : runs) {
    Member member;
    member.run = std::make_unique<TrainingRun>(runner, static_cast<int64_t>(members.size()), run);
    members.push_back(std::move(member));
    if (run.options.handleSignals && !signals)
      signals.emplace();
    if (!trace)
      trace = run.options.trace;
  }
}

/// These replicas take part in what follows, and no others.
Result<void> LockStep::activate(const Members &chosen) {
  std::vector<bool> active(static_cast<size_t>(runner.replicas()));
  for (const Member *member : chosen)
    active[static_cast<size_t>(member->run->replica())] = true;
  for (size_t replica = 0; replica < active.size(); ++replica)
    if (auto done = runner.setActive(static_cast<int64_t>(replica), active[replica]); !done)
      return done;
  return {};
}

Result<void> LockStep::start() {
  std::vector<uint64_t> seeds(static_cast<size_t>(runner.replicas()));
  for (Member &member : members) {
    seeds[static_cast<size_t>(member.run->replica())] = member.run->options().seed;
    if (auto done = member.run->open(); !done)
      end(member, done.error());
  }
  if (auto done = activate(going()); !done)
    return done;
  if (going().empty())
    return {};
  if (auto done = runner.initialize(seeds); !done)
    return done;
  for (Member *member : going())
    if (auto done = member->run->start(); !done)
      end(*member, done.error());
  mark = Clock::now();
  for (Member *member : going())
    member->run->startClock(mark);
  if (auto done = judgeUpdates(); !done)
    return done;
  if (trace)
    if (auto done = runner.measureInto(*trace); !done)
      return done;
  if (auto done = holdExamples(); !done)
    return done;
  return activate(going());
}

/// Where a run leaves out outliers.
Result<void> LockStep::judgeUpdates() {
  if (membersThat([](const Member &member) {
        return member.run->options().skipOutliers > 0;
      }).empty())
    return {};
  return runner.askBeforeUpdates([this](int64_t replica, const StepScore &score) {
    for (Member *member : going())
      if (member->run->replica() == replica)
        return member->run->takesUpdate(score);
    return true;
  });
}

/// Finite sets may be held where steps are taken, one for all runs that have the same: when all
/// runs have one, and drawing it beforehand is no more work than drawing its examples on the way.
Result<void> LockStep::holdExamples() {
  Examples examples;
  std::vector<const Source *> sources; // of the sets
  for (const Member *member : going()) {
    const Source &source = member->run->source();
    const ShuffledSet shuffled = source.shuffledSet();
    if (shuffled.size == 0 || !member->run->readsAllExamples()) {
      examples = {};
      break;
    }
    auto same = std::find_if(sources.begin(), sources.end(), [&](const Source *other) {
      return other == &source || other->describe() == source.describe();
    });
    const auto set = static_cast<size_t>(same - sources.begin());
    if (same == sources.end()) {
      sources.push_back(&source);
      examples.sets.push_back(member->run->examples());
    }
    examples.orders.resize(static_cast<size_t>(runner.replicas()));
    examples.orders[static_cast<size_t>(member->run->replica())] = {set, shuffled.seed};
  }
  auto held = runner.holdExamples(examples);
  return held ? Result<void>() : held.error();
}

//===-- bursts -------------------------------------------------------------------===//

/// Steps of the next burst, `distance` being those up to where something else is to be done. Equal
/// parts, so that few sizes occur: a device prepares every size that it meets often. No longer than
/// a signal or a time limit may have to wait.
int64_t LockStep::chooseSteps(int64_t distance) const {
  double longest = 0.5; // seconds
  for (const Member &member : members)
    if (const double limit = member.run->options().timeLimit; !member.outcome && limit > 0)
      longest = std::min(longest, limit / 50);
  int64_t most = runner.burstSteps();
  if (most > 1 && secondsAStep == 0)
    most = burstsDone == 0 ? 1 : std::min<int64_t>(most, 4);
  while (most > 1 && static_cast<double>(most) * secondsAStep > longest)
    most = (most + 1) / 2;
  const int64_t parts = (distance + most - 1) / most;
  return (distance + parts - 1) / parts;
}

/// Of each run the first one before it whose batches are the same: runs that differ in their
/// learning rate share a source.
std::vector<const TrainingRun *> LockStep::twinsOf(const Members &taking) {
  std::vector<const TrainingRun *> twins(taking.size());
  for (size_t i = 0; i < taking.size(); ++i)
    for (size_t j = 0; j < i && !twins[i]; ++j)
      if (taking[i]->run->hasBatchesOf(*taking[j]->run))
        twins[i] = taking[j]->run.get();
  return twins;
}

Result<void> LockStep::takeBurst() {
  const Members taking = going();
  int64_t distance = taking.front()->run->stepsToBoundary();
  for (const Member *member : taking)
    distance = std::min(distance, member->run->stepsToBoundary());
  const int64_t steps = chooseSteps(distance);
  const std::vector<const TrainingRun *> twins = twinsOf(taking);
  if (trace)
    trace->beginStep(taking.front()->run->stepsStarted() + 1);
  const Clock::time_point filling = Clock::now();
  for (int64_t step = 0; step < steps; ++step)
    for (size_t i = 0; i < taking.size(); ++i)
      taking[i]->run->fillNext(step, twins[i]);
  if (trace)
    trace->add("data", filling);
  const auto ahead = static_cast<size_t>(runner.burstsAhead());
  if (auto done = settle(ahead > 0 ? ahead - 1 : 0); !done)
    return done;
  if (auto done = runner.startBurst(steps); !done)
    return done;
  bursts.push_back(steps);
  atBoundary = steps == distance;
  return ahead == 0 ? settle(0) : Result<void>();
}

/// Waits until no more than `most` bursts are on their way.
Result<void> LockStep::settle(size_t most) {
  while (bursts.size() > most) {
    const int64_t steps = bursts.front();
    Result<std::vector<StepScore>> scores = runner.finishBurst();
    if (!scores)
      return scores.error();
    bursts.pop_front();
    const Clock::time_point now = Clock::now();
    const double each = secondsBetween(mark, now) / static_cast<double>(steps);
    mark = now;
    if (burstsDone++ > 0) // the first one warms caches
      secondsAStep = secondsAStep == 0 ? each : std::min(secondsAStep, each);
    const auto replicas = static_cast<size_t>(runner.replicas());
    for (Member *member : going())
      for (int64_t step = 0; step < steps && !member->failure; ++step) {
        const auto place =
            static_cast<size_t>(step) * replicas + static_cast<size_t>(member->run->replica());
        if (auto done = member->run->account((*scores)[place], each,
                                             each * static_cast<double>(steps - 1 - step));
            !done)
          member->failure = done.error();
      }
  }
  return {};
}

//===-- between bursts -----------------------------------------------------------===//

/// No scores: all of them are asked to stop.
Result<std::vector<EvaluationScore>> LockStep::evaluateOnly(const Members &chosen, bool atTheEnd) {
  std::vector<EvaluationJob> jobs;
  for (const Member *member : chosen) {
    const TrainOptions &options = member->run->options();
    jobs.push_back({member->run->replica(), &member->run->source(),
                    atTheEnd ? options.finalExamples : options.evalExamples});
  }
  if (auto done = activate(chosen); !done)
    return done.error();
  // An observer may have asked before, because it has seen enough; its run then comes to its end.
  std::vector<const char *> before;
  for (const Member *member : chosen)
    before.push_back(member->stop);
  auto stop = [&] {
    askWhoStops();
    if (lost)
      return true;
    for (size_t i = 0; i < chosen.size(); ++i) {
      const bool bySignal = signal && chosen[i]->run->options().handleSignals;
      if (!chosen[i]->stop || (chosen[i]->stop == before[i] && !bySignal))
        return false;
    }
    return true;
  };
  const Clock::time_point evaluating = Clock::now();
  auto scores = evaluate(runner, jobs, stop);
  if (trace)
    trace->add("evaluation", evaluating);
  if (lost)
    return *lost;
  if (auto done = activate(going()); !done)
    return done.error();
  return scores;
}

/// Periodic evaluations. One that is broken off is made up for when its run is resumed.
Result<void> LockStep::evaluateThose(const Members &evaluating) {
  if (evaluating.empty())
    return {};
  auto scores = evaluateOnly(evaluating, /*atTheEnd=*/false);
  if (!scores)
    return scores.error();
  for (size_t i = 0; i < evaluating.size(); ++i) {
    Member &member = *evaluating[i];
    if (!scores->empty()) {
      if (auto done = member.run->evaluated((*scores)[i]); !done)
        end(member, done.error());
      continue;
    }
    auto saved = member.run->save();
    end(member, saved ? Result<TrainOutcome>(member.run->interrupt(member.stop)) : saved.error());
  }
  return {};
}

/// What runs that are resumed were about to do when they were stopped.
Result<void> LockStep::evaluateWhatIsDue() {
  Members due;
  for (Member *member : going()) {
    auto isDue = member->run->evaluationIsDue();
    if (!isDue)
      return isDue.error();
    if (*isDue)
      due.push_back(member);
  }
  if (due.empty())
    return {};
  if (auto done = evaluateThose(due); !done)
    return done;
  for (Member *member : due)
    if (!member->outcome)
      if (auto done = member->run->saveAgain(); !done)
        end(*member, done.error());
  return activate(going());
}

Result<void> LockStep::explainFailures() {
  for (Member *member : membersThat([](const Member &each) { return bool(each.failure); })) {
    Error error = *member->failure;
    if (member->run->sawNonFiniteLoss()) {
      if (auto done = activate({member}); !done)
        return done;
      error = member->run->explainNonFiniteLoss();
    }
    end(*member, error);
  }
  return activate(going());
}

/// A signal that any rank got is one of all.
void LockStep::askWhoStops() {
  signal = signals ? signals->received() : nullptr;
  if (runner.ranks()) {
    static constexpr const char *known[] = {nullptr, "SIGINT", "SIGUSR1", "SIGTERM"};
    int64_t mine = 0;
    for (int64_t i = 1; signal && i < std::ssize(known); ++i)
      mine = std::string_view(signal) == known[i] ? i : mine;
    auto most = agree(runner, mine);
    if (!most) {
      lost = most.error();
      return;
    }
    signal = known[*most];
  }
  for (Member *member : going()) {
    const TrainOptions &options = member->run->options();
    if (signal && options.handleSignals)
      member->stop = signal;
    else if (!member->stop && options.observer && options.observer->wantsStop())
      member->stop = "observer";
  }
}

/// What is due after a burst; only the asking, where steps go on.
Result<void> LockStep::betweenBursts() {
  auto pauses = [](const Member &member) {
    return member.failure || member.stop || member.run->isDone();
  };
  askWhoStops();
  if (lost)
    return *lost;
  if (!atBoundary && membersThat(pauses).empty())
    return {};
  if (auto done = settle(0); !done)
    return done;
  if (!membersThat([](const Member &member) { return bool(member.failure); }).empty())
    if (auto done = explainFailures(); !done)
      return done;
  for (Member *member : going())
    member->run->planSteps();
  for (Member *member : going())
    member->run->averageParameters();
  if (auto done = evaluateThose(
          membersThat([](const Member &member) { return member.run->evaluatesNow(); }));
      !done)
    return done;
  for (Member *member : going())
    if (auto done = member->run->sampleWhenDue(); !done)
      end(*member, done.error());
  askWhoStops(); // an observer may have seen enough
  if (lost)
    return *lost;
  for (Member *member : going()) {
    if (member->run->savesNow() || member->stop) {
      const Clock::time_point saving = Clock::now();
      if (auto done = member->run->save(); !done) {
        end(*member, done.error());
        continue;
      }
      if (trace)
        trace->add("checkpoint", saving);
    }
    if (member->stop && !member->run->isComplete())
      end(*member, member->run->interrupt(member->stop));
  }
  return activate(going());
}

/// Those whose stage is over go on in another call.
Result<void> LockStep::leaveStages() {
  const Members leaving =
      membersThat([](const Member &member) { return member.run->stageIsOver(); });
  for (Member *member : leaving)
    end(*member, member->run->leaveStage());
  return leaving.empty() ? Result<void>() : activate(going());
}

Result<void> LockStep::endThoseDone() {
  for (Member *member : membersThat([](const Member &each) { return each.run->isDone(); }))
    if (auto done = member->run->close(); !done)
      end(*member, done.error());
  const Members done = membersThat([](const Member &member) { return member.run->isClosed(); });
  if (done.empty())
    return {};
  auto scores = evaluateOnly(done, /*atTheEnd=*/true);
  if (!scores)
    return scores.error();
  for (size_t i = 0; i < done.size(); ++i)
    end(*done[i], scores->empty() ? Result<TrainOutcome>(done[i]->run->interrupt(done[i]->stop))
                                  : done[i]->run->finish((*scores)[i]));
  return activate(going());
}

Result<void> LockStep::train() {
  auto outcome = takeSteps();
  for (int64_t replica = 0; replica < runner.replicas(); ++replica)
    if (auto done = runner.setActive(replica, true); !done && outcome)
      outcome = done;
  return outcome;
}

Result<void> LockStep::takeSteps() {
  if (auto done = start(); !done)
    return done;
  if (auto done = evaluateWhatIsDue(); !done)
    return done;
  while (true) {
    if (bursts.empty()) {
      if (auto done = leaveStages(); !done)
        return done;
      if (auto done = endThoseDone(); !done)
        return done;
    }
    if (going().empty())
      return {};
    if (bursts.empty())
      mark = Clock::now();
    if (auto done = takeBurst(); !done)
      return done;
    if (auto done = betweenBursts(); !done)
      return done;
  }
}

std::vector<Result<TrainOutcome>> LockStep::takeOutcomes() {
  std::vector<Result<TrainOutcome>> outcomes;
  for (Member &member : members)
    outcomes.push_back(std::move(*member.outcome));
  return outcomes;
}

} // namespace

Result<std::vector<Result<TrainOutcome>>> trainModels(StepRunner &runner,
                                                      std::span<const TrainRun> runs) {
  if (runs.empty() || static_cast<int64_t>(runs.size()) > runner.replicas())
    return Error{fmt::format("{} runs are to train together, but the model was compiled for {}",
                             runs.size(), runner.replicas())};
  LockStep lockStep(runner, runs);
  if (auto done = lockStep.train(); !done)
    return done.error();
  return lockStep.takeOutcomes();
}

Result<TrainOutcome> trainModel(StepRunner &runner, const Source &source, TrainOptions options) {
  const TrainRun run{&source, std::move(options)};
  auto outcomes = trainModels(runner, std::span(&run, 1));
  if (!outcomes)
    return outcomes.error();
  return std::move(outcomes->front());
}

} // namespace hybrid::rt
