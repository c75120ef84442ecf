//===- Columns.cpp - cells as columns of text ---------------------------------===//
#include "laboratory/Columns.h"
#include <algorithm>

namespace hybrid::rt::lab {

std::string alignColumns(const std::vector<std::vector<std::string>> &rows, int width) {
  std::vector<size_t> widths;
  auto columnsOf = [](const std::string &text) { // of UTF-8
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) >> 6) != 2;
    }));
  };
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], columnsOf(row[i]));
    }
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string space(widths[i] - columnsOf(row[i]), ' ');
      line += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    while (!line.empty() && line.back() == ' ')
      line.pop_back();
    if (width > 0 && line.size() > static_cast<size_t>(width) && columnsOf(line) == line.size())
      line.resize(static_cast<size_t>(width));
    text += line + "\n";
  }
  return text;
}

} // namespace hybrid::rt::lab
