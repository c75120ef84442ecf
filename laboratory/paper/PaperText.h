//===- PaperText.h - printed beside measured, as text --------------------------------===//
#pragma once
#include "laboratory/paper/Paper.h"

namespace hybrid::rt::lab {

/// A table for a terminal: a row a model, of each column what was measured and, in parentheses,
/// what is printed; behind it the checks.
std::string paperTable(const Recipe &recipe, const PaperOutcome &outcome);
/// The same as a section in Markdown, with the command that made it.
std::string paperSection(const Recipe &recipe, const PaperOutcome &outcome,
                         const std::string &version);

} // namespace hybrid::rt::lab
