//===- Comparison.h - two studies side by side ----------------------------------===//
//
// Scores are taken over the settings that both studies have a score for with an architecture, so
// that a difference is one of results and never of what was asked. What makes studies unlike
// (convention, suite, options, the text of an architecture of one name) is said first.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include "runtime/Result.h"
#include <string>

namespace hybrid::rt::lab {

/// A table for a terminal of 100 columns, behind it what differs most. `first` and `second` name
/// the studies, as their folders do.
std::string compareText(const Study &a, const Study &b, const std::string &first = "A",
                        const std::string &second = "B");

/// The same as a page that stands alone.
std::string comparisonText(const Study &a, const Study &b, const std::string &first = "A",
                           const std::string &second = "B");
Result<void> writeComparison(const Study &a, const Study &b, const std::string &path,
                             const std::string &first = "A", const std::string &second = "B");

} // namespace hybrid::rt::lab
