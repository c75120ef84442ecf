//===- RunFolder.h - what a run leaves on disk -------------------------------===//
//
// config.json, metrics.jsonl, summary.json and checkpoints/. A line of metrics goes to the file in
// one write; after a crash the file is cut back to the lines that the checkpoint knows of, so that
// a resumed run's file reads as if it had never stopped.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/files/AppendFile.h"
#include "training/Checkpoint.h"
#include "training/record/FolderLock.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace hybrid::rt {

class RunFolder {
public:
  /// Makes the folder. One that holds something already is an error unless `resume`, and so is one
  /// that another process has open.
  static Result<RunFolder> open(const std::string &path, bool resume);

  const std::string &path() const { return folder; }
  std::string checkpoints() const { return folder + "/checkpoints"; }
  Result<void> writeJson(const std::string &name, const nlohmann::json &value) const;

  /// Cuts metrics.jsonl to its first `lines` lines. Returns the seconds of training the last one
  /// states.
  Result<double> truncateMetrics(int64_t lines);
  Result<void> appendMetrics(const nlohmann::json &line);
  /// To be called before a checkpoint is written: what it counts on must be on the disk.
  Result<void> syncMetrics();

private:
  RunFolder() = default;
  std::string folder;
  std::optional<FolderLock> lock;
  std::optional<AppendFile> metrics;
};

} // namespace hybrid::rt
