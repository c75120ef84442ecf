//===- Report.h - a study as a page -------------------------------------------===//
//
// report.html is one file: style, script and figures are inside, it opens from disk and loads
// nothing. Equal studies give equal bytes, except inside <time> elements.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include "runtime/Result.h"
#include <string>

namespace hybrid::rt::lab {

/// The page of a study, whatever its state: empty, under way, with failed runs.
std::string reportText(const Study &study, const Scoreboard &scores);
/// Writes it; the file is whole or as it was.
Result<void> writeReport(const Study &study, const Scoreboard &scores, const std::string &path);

} // namespace hybrid::rt::lab
