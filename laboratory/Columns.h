//===- Columns.h - cells as columns of text -----------------------------------===//
#pragma once
#include <string>
#include <vector>

namespace hybrid::rt::lab {

/// Rows of cells as lines: the first column to the left, the others to the right. At most `width`
/// columns of the terminal; 0: any.
std::string alignColumns(const std::vector<std::vector<std::string>> &rows, int width);

} // namespace hybrid::rt::lab
