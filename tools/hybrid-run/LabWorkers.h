//===- LabWorkers.h - worker processes and those who watch them --------------------===//
#pragma once
#include "laboratory/Results.h"
#include <functional>
#include <string>
#include <vector>

namespace hybrid::tools {

struct WorkerSettings {
  std::string database;
  int jobs = 1;
  int threads = 0;      // of each; 0: an equal share of this machine's
  int64_t together = 1; // runs that train as one program
};

/// What a worker process does: trains runs until none is left or it is asked to stop.
void workOn(const WorkerSettings &settings);

/// Starts workers, calls `show` now and then, and replaces workers that die, until no run is left.
/// Returns the name of the signal that ended it before, or an empty string.
/// `stop`, asked as often, ends it as a signal does, without a name.
std::string superviseWorkers(const WorkerSettings &settings, const std::function<void()> &show,
                             const std::function<bool()> &stop = nullptr);

} // namespace hybrid::tools
