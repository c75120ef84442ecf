//===- WorkerProcesses.h - worker processes and those who watch them ----------------===//
#pragma once
#include "laboratory/Protocol.h"
#include <functional>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

struct WorkerSettings {
  std::string database;
  int jobs = 1;
  int threads = 0;          // of each; 0: an equal share of this machine's
  int64_t together = 1;     // runs that train as one program
  std::string program = {}; // that workers run, with the arguments of a worker; this one, if empty
};

/// What a worker process does: trains runs until none is left or it is asked to stop.
Result<void> workOn(const WorkerSettings &settings);

/// Starts workers, calls `show` now and then, and replaces workers that die, until no run is left.
/// Fails where three say that something is wrong, or are killed one behind the other before any has
/// begun a run: the next one would be, too. Returns the name of the signal that ended it before, or
/// an empty string. `stop`, asked as often, ends it as a signal does, without a name.
Result<std::string> superviseWorkers(const WorkerSettings &settings,
                                     const std::function<Result<void>()> &show,
                                     const std::function<bool()> &stop = nullptr);

/// Waits for the process that plans a study, and trains runs of it.
Result<void> helpStudy(const WorkerSettings &settings);

/// Of the processes that MPI or SLURM started together, which this one is; 0: the first, or alone.
int rankOfProcess();

/// Runs of a setting that train as one program, where nobody says how many: on a GPU all of them,
/// as far as memory is likely to allow; on the CPU, where replicas run one after another, one.
int64_t runsTogether(const Protocol &protocol);

} // namespace hybrid::rt::lab
