//===- Statistics.h - what the instances of a task are like -----------------===//
#pragma once
#include "training/tasks/Task.h"
#include <map>
#include <string>

namespace hybrid::rt {

struct TaskStatistics {
  uint64_t instances = 0, positions = 0; // of each instance
  uint64_t scored = 0, leastScored = 0, mostScored = 0;
  /// How often an id is an input, and a target.
  std::map<int32_t, uint64_t> inputs, targets;
  /// Inputs by what they are, as Task::spell says it without the number: "k", "v", "c", "~", "_",
  /// "=>"; "digit" where that leaves nothing.
  std::map<std::string, uint64_t> kinds;

  double meanScored() const { return static_cast<double>(scored) / static_cast<double>(instances); }
  /// Share of the input tokens that are of a kind.
  double share(const std::string &kind) const;
};

/// Of the instances 0 .. count-1.
TaskStatistics statisticsOf(const Task &task, uint64_t seed, Split split, uint64_t count);

} // namespace hybrid::rt
