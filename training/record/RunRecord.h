//===- RunRecord.h - what is kept of a run -----------------------------------===//
//
// The curve of a run's evaluations and, when it has a folder, all that lies in it: config.json,
// metrics.jsonl, TensorBoard's scalars, checkpoints, summary.json. Without a folder nothing is
// written.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/Evaluate.h"
#include "training/record/Events.h"
#include "training/record/RunFolder.h"
#include <optional>
#include <vector>

namespace hybrid::rt {

/// An evaluation after `step` steps.
struct EvaluationPoint {
  int64_t step = 0;
  EvaluationScore score;
};

class RunRecord {
public:
  /// `path` empty: no folder.
  static Result<RunRecord> open(const std::string &path, bool resume);

  bool hasFolder() const { return folder.has_value(); }
  std::string checkpoints() const { return folder ? folder->checkpoints() : std::string(); }
  const std::string &path() const { return folder->path(); }

  /// Cuts the metrics back to their first `lines` lines and takes the curve from them. Returns the
  /// seconds of training the last one states.
  Result<double> goBackTo(int64_t lines);
  /// Goes on from `step`: opens the files.
  Result<void> begin(int64_t step, const nlohmann::json &config);
  /// A line of metrics.jsonl, and its numbers as TensorBoard's scalars.
  Result<void> line(int64_t step, const nlohmann::json &line);
  Result<void> saveBest(StepRunner &runner, int64_t replica, const RunState &state);
  /// Writes the checkpoint of state.step and removes all but the newest `keep`.
  Result<void> save(StepRunner &runner, int64_t replica, const RunState &state, int64_t keep);
  Result<void> summary(const nlohmann::json &summary) const;
  /// A line of samples.jsonl, an object with "step".
  Result<void> sample(const nlohmann::json &sample) const;
  /// Leaves samples.jsonl with the lines of steps up to this one.
  Result<void> cutSamples(int64_t step) const;

  std::vector<EvaluationPoint> curve; // periodic evaluations, also of before a resume

private:
  Result<void> writeCheckpoint(const std::string &name, StepRunner &runner, int64_t replica,
                               const RunState &state);
  std::optional<RunFolder> folder;
  std::optional<EventFile> events;
};

} // namespace hybrid::rt
