//===- Checkpoint.h - the state of a run in one file -------------------------===//
//
// One safetensors file holds everything a run needs to go on: parameters under their own names (so
// the file serves wherever parameters are read), moments as moment1.NAME and moment2.NAME, and the
// run's state as JSON in the metadata, with a hash over all of it. It is written under another
// name, synced and renamed: whatever has the final name is complete. Nothing in it depends on the
// clock, so equal runs leave equal bytes; the position in the data is the step.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/StepRunner.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

struct RunState {
  int64_t step = 0;         // steps done
  int64_t plannedSteps = 0; // 0: not known yet (a run limited by time only)
  int64_t metricsLines = 0; // lines of metrics.jsonl that belong to the steps done
  BatchScore interval;      // sums since the last report: loss*weight, weight, correct
  int64_t intervalSteps = 0;
  int64_t bestStep = -1; // -1: nothing evaluated yet
  double bestLoss = 0, bestAccuracy = 0;
  bool finished = false; // stopped for good: steps done, accuracy reached or time over
  uint64_t fingerprint = 0;
  nlohmann::json config; // settings that a resumed run must share
  std::string tokenizer; // serialized, of the data; empty: none. Written, not read back
  /// Of a run that leaves out outliers: the last losses and norms, and how many updates it left
  /// out.
  struct Outliers {
    std::vector<double> losses, norms;
    int64_t leftOut = 0;
  };
  std::optional<Outliers> outliers;
};

/// As a checkpoint holds it, and back: nothing where the text is no state.
std::string serialized(const RunState &state);
std::optional<RunState> readRunState(std::string_view text);

/// Writes whole or not at all.
Result<void> saveCheckpoint(const std::string &path, StepRunner &runner, const RunState &state,
                            int64_t replica = 0);

/// Reads, checks everything, and only then copies the tensors into the runner. Errors name the file
/// and what is wrong with it.
Result<RunState> loadCheckpoint(const std::string &path, StepRunner &runner, int64_t replica = 0);

/// checkpoints/step-00000100.safetensors and so on.
std::string checkpointName(int64_t step);

struct CheckpointFile {
  int64_t step = 0;
  std::string path;
};
/// The step files of a folder, newest first. Removes what a killed writer left under temporary
/// names.
std::vector<CheckpointFile> listCheckpoints(const std::string &folder);

/// What differs between two settings, "lr is 0.001, the run had 0.0005; ..."; empty when equal.
std::string describeDifference(const nlohmann::json &now, const nlohmann::json &then);

} // namespace hybrid::rt
