//===- RunStore.h - runs claimed and finished by many processes --------------===//
//
// The database is all the coordination there is. A worker claims pending runs in one transaction,
// says now and then that it is alive, and finishes them in another; a claim whose worker is dead,
// or silent for `staleSeconds`, is free again. Silence is measured by the clock of who waits: what
// others' clocks say is only compared with what they said before, so that clocks may differ.
// Finishing counts only while the claim is still one's own, so every run is done exactly once
// whoever is killed when.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/database/Schema.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

/// Silence after which another machine's worker counts as dead. On the same machine its process is
/// looked for instead.
inline constexpr double staleSeconds = 180;
/// A run whose worker died this often is failed: it is the run that kills them.
inline constexpr int mostAttempts = 4;

/// Names this process so that others can tell whether it lives: machine, process, start.
std::string workerName();
/// Whether the worker runs on this machine and is gone.
bool isDead(const std::string &worker);

class RunStore {
public:
  static Result<RunStore> open(const std::string &path, std::string worker);

  /// Puts the study, or what is new of it, into its database, frees what dead workers held, and has
  /// failed runs tried again.
  static Result<RunStore> begin(const Study &study, const std::string &path);

  /// At most `most` pending runs of one setting of one architecture, in their order; none when
  /// nothing is left to claim (others may still be at work). Only runs of one batch and number of
  /// steps come together.
  Result<std::vector<Run>> claim(int64_t most);
  /// Says that this worker is alive and how far its runs are.
  Result<void> heartbeat(const std::vector<std::pair<int64_t, int64_t>> &stepsDone);
  /// Writes the outcome of a run claimed here: status "done" or "failed". Whether it counted: not
  /// when the claim was lost meanwhile.
  Result<bool> finish(const Run &run);
  /// Gives claimed runs back, as they were: for a worker that is asked to stop.
  Result<void> release(const std::vector<int64_t> &runs);
  /// Frees claims of dead workers; how many. One on another machine is dead when this object has
  /// seen it silent for `staleSeconds`.
  Result<int64_t> reclaim();
  /// What reclaim() measures silence with, in seconds: for tests.
  void useClock(std::function<double()> seconds) { clock = std::move(seconds); }
  /// Makes failed runs pending again, except those that diverged.
  Result<int64_t> retryFailed();
  /// Runs neither done nor failed.
  Result<int64_t> left();

  Result<Study> study(bool curves) { return loadStudy(*database, curves); }
  /// A value of table `study`; empty when there is none.
  Result<std::string> value(const std::string &name);

private:
  RunStore(std::unique_ptr<Database> database, std::string worker);
  bool isSilent(const std::string &name, double heartbeat);

  struct Sign {
    double heartbeat, seenAt; // seenAt: by `clock`
  };
  std::unique_ptr<Database> database;
  std::string worker;
  std::function<double()> clock;
  std::map<std::string, Sign> signs; // the last of each worker that others have
};

} // namespace hybrid::rt::lab
