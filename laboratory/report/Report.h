//===- Report.h - a study as data and a page -------------------------------------===//
//
// study.json holds all that a study found; report.html is the page that draws it, with the same
// JSON inside. Equal studies give equal bytes, except in fields called `seconds`.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include "runtime/Result.h"
#include <nlohmann/json.hpp>
#include <string>

namespace hybrid::rt::lab {

/// A study, whatever its state: empty, under way, with failed runs. docs/book/report.md names the
/// fields. A number that does not exist is null.
nlohmann::ordered_json studyJson(const Study &study, const Scoreboard &scores);

/// The same without what is long or differs from machine to machine: sources, curves, seconds, the
/// command. Equal scores give equal bytes.
nlohmann::ordered_json scoresJson(const Study &study, const Scoreboard &scores);

/// Writes report.html and study.json into the folder; each is whole or as it was.
Result<void> writeReport(const Study &study, const Scoreboard &scores, const std::string &folder);

/// Two studies side by side as data of the page, and compare.html of them at `path`. `first` and
/// `second` name the studies, as their folders do.
nlohmann::ordered_json comparisonJson(const Study &a, const Study &b, const std::string &first,
                                      const std::string &second);
Result<void> writeComparison(const Study &a, const Study &b, const std::string &path,
                             const std::string &first, const std::string &second);

} // namespace hybrid::rt::lab
