//===- Paper.h - tables and figures of the papers, measured here --------------------===//
#pragma once
#include "laboratory/paper/Recipe.h"
#include <cstdint>
#include <optional>
#include <string>

namespace hybrid::rt::lab {

struct PaperOptions {
  std::string version;                    // of the program
  std::string papers;                     // the folder papers/
  std::string recipe, budget = "minutes"; // a name, or a recipe's file
  std::string out;                        // empty: runs/paper-NAME-BUDGET
  std::vector<std::string> rows;          // the only ones to measure; empty: all
  std::optional<uint64_t> seed;           // of the (first) training, in place of the recipe's
  int jobs = 1, threads = 0;
  bool json = false, quiet = false;
};

/// What became of a recipe: its cells by row and column, and each check in words.
struct PaperOutcome {
  std::map<std::pair<std::string, std::string>, PaperValue> measured;
  struct Checked {
    std::string text;
    bool holds = false;
  };
  std::vector<Checked> checks;
  int64_t held() const;
};

/// What the measured values say to the recipe's checks. A check of a cell that has no number does
/// not hold, unless the same is printed there.
std::vector<PaperOutcome::Checked> checkRecipe(const Recipe &recipe, const PaperOutcome &outcome);

/// The recipe with printed beside measured values, as data of the page (kind "paper").
nlohmann::ordered_json paperJson(const Recipe &recipe, const PaperOutcome &outcome);

/// Measures a recipe at a budget, or goes on where it was broken off, and writes paper.json,
/// report.html and section.md into the folder; prints the table.
Result<void> runPaper(const PaperOptions &options);

/// Prints every table and figure of the papers with what can be done about it.
Result<void> listPapers(const std::string &papers, bool json);

} // namespace hybrid::rt::lab
