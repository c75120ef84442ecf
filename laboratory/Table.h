//===- Table.h - a study on a terminal ----------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include <string>

namespace hybrid::rt::lab {

/// How far the study is, a row a task: runs done and running, the best score so far and who has it,
/// time left. At most `width` columns; 0: any.
std::string progressTable(const Study &study, int width);

/// Scores, a row an architecture, as micro and as MAD's accuracy, in percent; then what diverged,
/// failed or is missing. Equal studies give equal text.
std::string scoreTable(const Study &study, const Scoreboard &board, int width);

/// A line about a run that has ended, the `number`-th to do so.
std::string runLine(const Study &study, const Run &run, size_t number);

/// Seconds until all is done, from what finished runs took and how many are running; below 0: not
/// known yet. `task` empty: of all.
double secondsLeft(const Study &study, const std::string &task);

/// FLOPs of training a run to its planned end: three times forward.
double trainingFlops(const Run &run);

} // namespace hybrid::rt::lab
