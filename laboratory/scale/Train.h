//===- Train.h - the runs of a scaling study, trained ---------------------------------===//
#pragma once
#include "laboratory/TrainRuns.h"
#include "laboratory/scale/ScaleStudy.h"

namespace hybrid::rt::lab::scale {

/// How one training of a run came out.
struct Attempt {
  bool isInterrupted = false; // asked to stop: as if it had not been
  bool diverged = false;      // a loss was no number, or above that of guessing among all tokens
  std::string error;          // of any other failure
  int64_t steps = 0;
  double loss = 0, seconds = 0;
  std::vector<CurvePoint> curve;
};

/// Trains a run with a rate; one that diverges a second time, with half its rate. Fills in its
/// status and outcome.
void trainOrRetry(Run &run, const std::function<Attempt(double rate)> &train);

/// An executor of the study's runs. Fails where its protocol cannot be read or a model's file is
/// not what it was. `stop` is asked between steps.
Result<RunExecutor> scaleExecutor(const Study &study, int threads, std::function<bool()> stop);

/// Sets `seconds` of each planned run to what a few steps of each size and batch predict on this
/// machine; `told` hears of each that is measured.
Result<void> measurePlan(const ScaleProtocol &protocol, int threads, std::vector<PlannedRun> &runs,
                         const std::function<void(const PlannedRun &)> &told);

/// Says, by name, which runs do not fit into so many bytes with `jobs` of them at a time.
Result<void> checkMemory(const std::vector<PlannedRun> &runs, int jobs, double bytes);
/// What this machine, or its GPU, has.
Result<double> memoryOf(const std::string &processor);

} // namespace hybrid::rt::lab::scale
