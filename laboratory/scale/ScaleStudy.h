//===- ScaleStudy.h - planned trainings as a study of the database of runs ------------===//
//
// A run is a training; what a budget trains of an architecture at one size is an architecture of
// the study, with its text and settings. The run's `task` is the group that a law is fitted to, its
// `axis` "budget" with the FLOPs, and its `setting` what the plan said beside that, as JSON; there
// a run of a sweep in which not the model varies has the sweep's name with its factor.
// A run that is done and `diverged` was trained again with half the rate.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/scale/Plan.h"
#include "laboratory/scale/Points.h"
#include <nlohmann/json.hpp>

namespace hybrid::rt::lab::scale {

inline constexpr const char *suiteName = "scaling";
inline constexpr double warmupShare = 0.01, leastRateShare = 0.1;

/// How all runs of a study train: through a database and back.
struct ScaleProtocol {
  std::string data; // KIND:PATH, as `train --data` takes it
  int64_t length = 0;
  std::string method, precision, processor;
  uint64_t evalExamples = 0;                       // windows of the held-out part
  std::optional<int64_t> baseWidth = std::nullopt; // as PlanOptions has it

  nlohmann::json toJson() const;
  static Result<ScaleProtocol> fromJson(const nlohmann::json &json);
};

/// The study that a plan is, with pending runs. `version` is that of the program. Fails where a
/// model cannot be read.
Result<Study> studyOf(const ScaleProtocol &protocol, const std::vector<PlannedRun> &runs,
                      const std::string &version, uint64_t seed);

/// `wanted` behind what a stored study has. Fails, saying what differs, where the two were not
/// trained alike.
Result<Study> grownStudy(const Study &stored, Study wanted, const std::string &path);

/// A run of a study as laws are fitted to it.
struct TrainedRun {
  Point point; // without a loss where it is not done
  std::string size;
  double budget = 0, rate = 0; // the rate that it was trained with
  int64_t batch = 0, steps = 0;
  std::string sweep;    // the name of its kind; empty: of the plan itself
  double factor = 0;    // of a sweep in which not the model varies
  bool retried = false; // its first training diverged
  std::optional<StateSize> state;
  std::optional<double> attention; // share of it among the layers
  double seconds = 0;
  std::string status, error;

  bool isDone() const { return status == "done"; }
};
std::vector<TrainedRun> trainedRuns(const Study &study);

/// "mamba w64 at 1e+12 FLOPs", with the factor of a sweep.
std::string nameOf(const TrainedRun &run);

/// The points of those that are done.
std::vector<Point> pointsOf(const std::vector<TrainedRun> &runs);
/// The same as a table that readPoints() takes, with the columns that it passes over; `factor` is
/// among them where runs have one.
std::string pointsTable(const std::vector<TrainedRun> &runs);

} // namespace hybrid::rt::lab::scale
