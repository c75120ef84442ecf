//===- View.h - a task to look at -------------------------------------------------===//
#pragma once
#include "training/tasks/Task.h"

namespace hybrid::rt {

struct TaskView {
  std::string spec; // NAME[:key=value,...]
  Split split = Split::Test;
  Convention convention = Convention::Paper;
  uint64_t seed = defaultDataSeed;
  int64_t show = 0;     // instances to print
  int64_t stats = 0;    // instances to count
  std::string out;      // folder for arrays of instances; empty: none
  int64_t count = 1280; // instances in them
  bool json = false;    // the counts as JSON
};

/// Prints, counts and exports instances, as far as asked.
Result<void> viewTask(const TaskView &view);

} // namespace hybrid::rt
