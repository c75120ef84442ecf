//===- Points.cpp - trainings that a scaling law is fitted to ---------------------===//
#include "laboratory/scale/Points.h"
#include "executable/NearestName.h"
#include "executable/Printable.h"
#include "runtime/files/File.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace hybrid::rt::lab::scale {
namespace {

struct Cell {
  std::string text;
  size_t column = 1; // of its first character in its line, from 1
};

std::string_view trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The records of a table, one at a time.
class Records {
public:
  Records(std::string_view text, const std::string &name) : text(text), name(name) {
    if (this->text.starts_with("\xEF\xBB\xBF"))
      this->text.remove_prefix(3);
  }

  bool atEnd() const { return place >= text.size(); }
  size_t line() const { return firstLine; }

  /// The cells of the next record, which may span lines where a cell is quoted.
  Result<std::vector<Cell>> next() {
    firstLine = lineNumber;
    std::vector<Cell> cells;
    for (;;) {
      auto cell = nextCell();
      if (!cell)
        return cell.error();
      cells.push_back(std::move(*cell));
      if (atEnd() || text[place] != ',')
        break;
      ++place;
    }
    endLine();
    return cells;
  }

  Error fault(size_t line, size_t column, const std::string &what) const {
    return Error{fmt::format("{}:{}:{}: {}", name, line, column, what)};
  }

private:
  Result<Cell> nextCell() {
    Cell cell{{}, place - lineStart + 1};
    if (size_t first = text.find_first_not_of(" \t", place);
        first != std::string_view::npos &&
        std::string_view(",\r\n").find(text[first]) == std::string_view::npos) {
      place = first;
      cell.column = place - lineStart + 1;
    }
    if (atEnd() || text[place] != '"') {
      size_t end = std::min(text.find_first_of(",\r\n", place), text.size());
      cell.text = trimmed(text.substr(place, end - place));
      place = end;
      return cell;
    }
    const size_t line = lineNumber;
    for (++place; !atEnd(); ++place) {
      if (text[place] == '"') {
        if (place + 1 >= text.size() || text[place + 1] != '"')
          break;
        ++place; // two quotes are one
      } else if (text[place] == '\n') {
        ++lineNumber;
        lineStart = place + 1;
      }
      cell.text += text[place];
    }
    if (atEnd())
      return fault(line, cell.column, "the quote that begins here does not end");
    ++place;
    if (!atEnd() && text.find_first_of(",\r\n", place) != place)
      return fault(lineNumber, place - lineStart + 1, "expected a comma behind the quoted cell");
    return cell;
  }

  void endLine() {
    if (!atEnd() && text[place] == '\r')
      ++place;
    if (!atEnd() && text[place] == '\n')
      ++place;
    ++lineNumber;
    lineStart = place;
  }

  std::string_view text;
  const std::string &name;
  size_t place = 0, lineStart = 0, lineNumber = 1, firstLine = 1;
};

const std::array<std::string, 5> columns{"flops", "params", "tokens", "loss", "group"};
constexpr size_t numbers = 4; // the first columns are numbers and must be there

using Places = std::array<std::optional<size_t>, columns.size()>;

Result<Places> findColumns(const Records &records, const std::vector<Cell> &header) {
  Places places;
  for (size_t i = 0; i < header.size(); ++i)
    for (size_t c = 0; c < columns.size(); ++c)
      if (header[i].text == columns[c]) {
        if (places[c])
          return records.fault(records.line(), header[i].column,
                               fmt::format("the column '{}' is there twice", columns[c]));
        places[c] = i;
      }
  for (size_t c = 0; c < numbers; ++c) {
    if (places[c])
      continue;
    std::vector<std::string> names;
    for (const Cell &cell : header)
      names.push_back(cell.text);
    std::string meant = nearestName(columns[c], names);
    return records.fault(
        records.line(), 1,
        fmt::format("no column is called '{}'{}: the first line names flops, params, tokens, loss "
                    "and, if there are several, group",
                    columns[c], meant.empty() ? "" : fmt::format(" ('{}' is one)", meant)));
  }
  return places;
}

Result<double> numberOf(const Records &records, const Cell &cell, const std::string &column) {
  double value = 0;
  const char *end = cell.text.data() + cell.text.size();
  auto read = std::from_chars(cell.text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value) || value <= 0)
    return records.fault(
        records.line(), cell.column,
        fmt::format("{}: '{}' is no number above 0", column, printable(cell.text.substr(0, 40))));
  return value;
}

} // namespace

Result<std::vector<Point>> parsePoints(std::string_view text, const std::string &name) {
  Records records(text, name);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return records.fault(1, 1, "the table is empty: its first line names its columns");
  auto header = records.next();
  if (!header)
    return header.error();
  auto places = findColumns(records, *header);
  if (!places)
    return places.error();
  std::vector<Point> points;
  while (!records.atEnd()) {
    auto cells = records.next();
    if (!cells)
      return cells.error();
    if (cells->size() == 1 && cells->front().text.empty())
      continue; // an empty line
    if (cells->size() != header->size())
      return records.fault(records.line(), cells->back().column,
                           fmt::format("{} cells where the first line names {} columns",
                                       cells->size(), header->size()));
    std::array<double, numbers> values{};
    for (size_t c = 0; c < numbers; ++c) {
      auto value = numberOf(records, (*cells)[*(*places)[c]], columns[c]);
      if (!value)
        return value.error();
      values[c] = *value;
    }
    points.push_back({(*places)[numbers] ? (*cells)[*(*places)[numbers]].text : "", values[0],
                      values[1], values[2], values[3]});
  }
  if (points.empty())
    return Error{fmt::format("{}: names its columns, but has no points", name)};
  return points;
}

Result<std::vector<Point>> readPoints(const std::string &path) {
  auto text = readText(path);
  if (!text)
    return text.error();
  return parsePoints(*text, path);
}

std::vector<std::vector<Point>> byGroup(const std::vector<Point> &points) {
  std::vector<std::vector<Point>> groups;
  for (const Point &point : points) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto &group) {
      return group.front().group == point.group;
    });
    if (found == groups.end())
      found = groups.insert(groups.end(), std::vector<Point>{});
    found->push_back(point);
  }
  return groups;
}

} // namespace hybrid::rt::lab::scale
