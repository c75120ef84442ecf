//===- Worker.h - claims runs until none is left ------------------------------===//
#pragma once
#include "laboratory/database/RunStore.h"
#include <atomic>
#include <functional>
#include <memory>
#include <span>

namespace hybrid::rt::lab {

/// How the runs that are being trained are doing. The executor writes, a thread of the worker tells
/// the database now and then.
class RunMonitor {
public:
  explicit RunMonitor(size_t runs) : steps(runs) {}
  void report(size_t run, int64_t stepsDone) { steps[run].store(stepsDone); }
  int64_t stepsDone(size_t run) const { return steps[run].load(); }

private:
  std::vector<std::atomic<int64_t>> steps;
};

/// Trains runs of one setting of one architecture, and fills in their status ("done", "failed") and
/// outcome. One that is still "running" afterwards was broken off and is given back.
using RunExecutor = std::function<void(std::span<Run> runs, RunMonitor &monitor)>;

struct WorkerOptions {
  std::string database;
  int64_t together = 1; // runs claimed at once
  double heartbeatSeconds = 5;
  double idleSeconds = 1;     // between looks when others hold all that is left
  std::function<bool()> stop; // asked between runs
};

struct WorkerOutcome {
  int64_t finished = 0;
  bool stopped = false;
};

/// Works until no run is left, not even one that another worker might drop, or it is asked to stop.
Result<WorkerOutcome> work(const WorkerOptions &options, const RunExecutor &executor);

} // namespace hybrid::rt::lab
