//===- RunView.h - runs as their folders show them -----------------------------------===//
//
// What `hybrid-run compare` and `hybrid-run watch` tell of run folders, whether the runs have ended
// or go on: tables for people, JSON and CSV for scripts, curves for a terminal.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hybrid::rt::lab {

struct RunView {
  /// A step and the loss there.
  using Curve = std::vector<std::pair<int64_t, double>>;

  std::string path;
  int64_t step = 0, steps = 0; // done and planned; 0: not known
  bool isFinished = false;
  Curve train, eval;                              // eval without the last, larger evaluation
  std::optional<double> evalLoss, accuracy, bits; // of the last evaluation
  std::optional<double> tokensPerSecond, seconds; // of the last report
  std::optional<int64_t> parameters;
  std::map<std::string, std::string> settings; // that decide what the run is

  /// The lowest loss of an evaluation, and its step.
  std::optional<std::pair<int64_t, double>> best() const;
};

/// Reads config.json, metrics.jsonl and summary.json. A line that is being written is passed over.
/// Fails for a folder that is no run's.
Result<RunView> readRun(const std::string &path);

/// The settings in which some of the runs differ, in the order of their names.
std::vector<std::string> differences(std::span<const RunView> runs);

/// Losses, speed and what differs, a row a run; at most `width` columns, 0: any.
std::string compareText(std::span<const RunView> runs, int width);
nlohmann::json compareJson(std::span<const RunView> runs);
std::string compareCsv(std::span<const RunView> runs);

/// How runs are going: a row each with its numbers, and its training loss as a curve over the steps
/// of the longest, all to one scale.
std::string watchText(std::span<const RunView> runs, int width);

} // namespace hybrid::rt::lab
