//===- SearchRun.h - a search from its space to its front ---------------------------===//
#pragma once
#include "laboratory/search/Search.h"
#include <optional>

namespace hybrid::rt::lab {

struct SearchOptions {
  std::string version;               // of the program
  std::string path;                  // a model (.hyb) with choices
  std::string out;                   // the folder of the search; empty: runs/search-NAME
  std::vector<std::string> settings; // NAME=VALUE
  Protocol protocol;
  Constraints constraints;
  HalvingOptions halving; // but for its budget
  std::optional<double> budgetFlops, budgetSeconds;
  int64_t points = 0;        // of the first rung, at most; 0: any
  int threads = 0, jobs = 1; // of each process that trains, 0: an equal share; their number
  bool dryRun = false;       // looks at the points and prints the plan, but trains nothing
  bool json = false, quiet = false;
};

/// Searches, or goes on where the same search was: looks at points, trains them rung by rung,
/// writes the members of the front as models, search.json and report.html, and prints the front.
Result<void> searchSpace(const SearchOptions &options);

} // namespace hybrid::rt::lab
