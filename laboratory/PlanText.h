//===- PlanText.h - what a study is going to be, for people --------------------------===//
#pragma once
#include "laboratory/StudyRun.h"
#include <cstdio>
#include <functional>

namespace hybrid::rt::lab {

/// The options of the protocol, a line each.
std::string optionText(const Study &study);

/// Writes costs of the architectures and what differs between them on `stream`. Fails where the
/// options require what is not alike.
Result<void> checkIso(const Study &study, const Setting &first, const StudyOptions &options,
                      std::FILE *stream);

/// Hears how many costs are counted and shows it on a line of a terminal that is written over.
std::function<void(size_t, size_t)> countingLine(const StudyOptions &options,
                                                 const std::string &what);

/// Prints every setting of each architecture with its updates, FLOPs and time, an architecture as
/// soon as it is measured, and the total.
Result<void> printPlan(const Study &study, const Protocol &protocol, const StudyOptions &options,
                       Models &models);

} // namespace hybrid::rt::lab
