//===- JoinPage.cpp - the page of scores beside perplexities -------------------------===//
#include "laboratory/report/Page.h"
#include "laboratory/scale/Join.h"
#include "runtime/files/AtomicFile.h"
#include <fmt/format.h>
#include <set>

namespace hybrid::rt::lab::scale {

nlohmann::ordered_json joinPageJson(const std::vector<Correlated> &rows) {
  std::set<double> budgets;
  for (const Correlated &row : rows)
    budgets.insert(row.flops);
  nlohmann::ordered_json data = joinJson(rows);
  data["title"] = "Synthetic scores and scaling";
  data["text"] = fmt::format("Scores of synthetic tasks beside perplexity at the best size of {} "
                             "budget{}.",
                             budgets.size(), budgets.size() == 1 ? "" : "s");
  return data;
}

Result<void> writeJoinPage(const std::vector<Correlated> &rows, const std::string &path) {
  return writeFileAtomically(path, report::page(joinPageJson(rows)));
}

} // namespace hybrid::rt::lab::scale
