//===- TrainingRun.h - one run among those that train together ---------------===//
//
// Everything of a run but the taking of steps: its place in the data and the schedule, its record,
// what it does between bursts of steps. Trainer.cpp takes the steps.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/OutlierWindow.h"
#include "training/Trainer.h"
#include "training/record/Progress.h"
#include <chrono>
#include <functional>
#include <optional>

namespace hybrid::rt {

class TrainingRun {
public:
  using Clock = std::chrono::steady_clock;

  TrainingRun(StepRunner &runner, int64_t replica, const TrainRun &run);

  /// Checks the source against the model and opens the folder.
  Result<void> open();
  /// With the parameters drawn: resumes, when that is asked for, and begins the record.
  Result<void> start();
  /// Training begins now.
  void startClock(Clock::time_point now) { started = now; }

  int64_t replica() const { return place; }
  int64_t stepsStarted() const { return nextStep; }
  const Source &source() const { return *data; }
  const TrainOptions &options() const { return settings; }

  /// Steps from those started to where something other than a step is to be done.
  int64_t stepsToBoundary() const;
  /// Its training set as rows of batches, where the source has one that it shuffles; whether the
  /// steps that are left go through all of it.
  Examples::Set examples() const;
  bool readsAllExamples() const;
  /// Fills the inputs of the next step, as step `inBurst` of a burst; `twin`: a run that has filled
  /// the same batch there, or null.
  void fillNext(int64_t inBurst, const TrainingRun *twin);
  /// Whether the next batches of the two are the same.
  bool hasBatchesOf(const TrainingRun &other) const {
    return data == other.data && nextStep == other.nextStep;
  }
  /// Of the oldest step on its way, which took `seconds` and ended `before` now. Errors end this
  /// run only.
  Result<void> account(const StepScore &score, double seconds, double before);
  /// Whether the update of the step that is being taken is to be made: false for an outlier.
  bool takesUpdate(const StepScore &score);
  bool sawNonFiniteLoss() const { return nonFinite.has_value(); }
  /// After account() found a loss that is no number, with no burst on its way: the error to end
  /// with, which names the operation.
  Error explainNonFiniteLoss();
  /// With all steps accounted for: how many are to come, where the clock decides that.
  void planSteps();

  bool evaluatesNow() const;
  /// Whether a run that was resumed had been stopped in an evaluation, which is then to be made.
  Result<bool> evaluationIsDue() const;
  Result<void> evaluated(const EvaluationScore &score);
  /// The average follows the parameters, where one is kept and it is time.
  void averageParameters();
  bool savesNow() const;
  Result<void> save();
  Result<void> keepState(const std::function<Result<void>()> &write);
  /// The same step once more: an evaluation has been made since.
  Result<void> saveAgain();
  /// Writes a text, where that is asked for and due.
  Result<void> sampleWhenDue();
  /// Whether the steps of its stage are taken, but not those of the run.
  bool stageIsOver() const;
  /// Saves, for the next stage to go on from.
  Result<TrainOutcome> leaveStage();
  /// Whether no more steps are to be taken.
  bool isDone() const { return isComplete() || timeIsOver(); }
  bool isComplete() const { return state.finished || stepsAreDone(); }
  /// The end: report, checkpoint. Then one more evaluation, and finish().
  Result<void> close();
  bool isClosed() const { return closed; }
  Result<TrainOutcome> finish(const EvaluationScore &score);
  /// The outcome of a run that ends here because `who` asked for it.
  TrainOutcome interrupt(const char *who);

private:
  /// Whether parameters of another run are the first ones; a later stage has its own run's.
  bool beginsWarm() const {
    return !settings.warmStart.path.empty() && (!settings.stage || settings.stage->first == 0);
  }
  Result<void> resume();
  Result<void> resumeFromFolder();
  Result<void> takeUp(RunState &loaded, const std::string &path);
  Result<void> takeStateOfFirst(Communicator &ranks);
  Hyper hyperAt(int64_t step) const;
  void fill(int64_t step, int64_t inBurst) const;
  Result<void> report(double seconds);
  /// In words, for the message of a run that diverged.
  std::string lastGoodState() const;
  nlohmann::json evaluationLine(const EvaluationScore &score) const;
  double elapsed() const;
  bool timeIsOver() const { return settings.timeLimit > 0 && elapsed() >= settings.timeLimit; }
  bool stepsAreDone() const { return state.plannedSteps > 0 && state.step >= state.plannedSteps; }
  /// Whether how many steps fit into the time limit is still to be measured.
  bool awaitsPlan() const {
    return settings.steps <= 0 && settings.timeLimit > 0 && state.plannedSteps <= 0;
  }

  StepRunner &runner;
  int64_t place;
  const Source *data;
  TrainOptions settings;
  std::optional<RunRecord> record;
  Progress progress;
  RunState state;       // of the steps accounted for
  int64_t nextStep = 0; // to be started
  nlohmann::json trajectory;
  std::optional<std::pair<int64_t, double>> nonFinite; // step, loss
  double secondsBefore = 0;                            // of training in earlier processes
  double stepSeconds = 0, intervalSeconds = 0, warmSeconds = 0, trainSeconds = 0;
  double gradientNorm = 0;
  int64_t stepsHere = 0, savedStep = -1, sampledStep = -1;
  OutlierWindow losses, norms;            // of steps
  bool closed = false, hasFolder = false; // the first rank's, where there are several
  int64_t averagedStep = -1;              // when the average last followed
  Clock::time_point started;
};

} // namespace hybrid::rt
