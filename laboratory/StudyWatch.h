//===- StudyWatch.h - how a study is doing, for the person watching -----------------===//
//
// On a terminal a table that rewrites itself; otherwise a line a run. Always on standard error.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/database/RunStore.h"
#include <chrono>
#include <optional>
#include <set>

namespace hybrid::rt::lab {

class StudyWatch {
public:
  static Result<StudyWatch> open(const std::string &database, bool quiet);
  /// Shows what is new, at most once a second.
  Result<void> show();
  /// Shows it once more, and clears the table.
  Result<void> last();

private:
  StudyWatch(RunStore store, bool quiet);
  void clear();

  RunStore store;
  bool quiet, terminal = false;
  std::set<int64_t> told;
  std::optional<std::chrono::steady_clock::time_point> shown;
  int64_t lines = 0;
};

/// Columns of the terminal that a descriptor is; 0: it is none.
int terminalWidth(int descriptor);

} // namespace hybrid::rt::lab
