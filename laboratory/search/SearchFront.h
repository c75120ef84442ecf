//===- SearchFront.h - the front of a search as files and as a table ----------------===//
#pragma once
#include "laboratory/search/Search.h"

namespace hybrid::rt::lab {

/// "1.2 PFLOP", "35 s": an amount of the budget.
std::string amount(double value, bool isTime);
/// How long a rung trains: "all", "1/4".
std::string rungText(size_t rung, const HalvingOptions &halving);

/// What was written: the members, best first, as indices of the plan's points, the names of their
/// files, and search.json.
struct FrontFiles {
  std::vector<size_t> points;
  std::vector<std::string> names;
  nlohmann::json description;
};

/// Writes front/*.hyb, search.json and report.html into the folder of the search. Fails when no
/// point has a score.
Result<FrontFiles> writeFront(const SearchPlan &plan, const SearchOutcome &outcome,
                              const std::string &compiler, bool quiet);

/// The front as a table on standard output.
void printFront(const SearchPlan &plan, const SearchOutcome &outcome, const FrontFiles &files);

} // namespace hybrid::rt::lab
