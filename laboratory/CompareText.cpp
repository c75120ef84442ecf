//===- CompareText.cpp - two studies on a terminal ---------------------------------===//
#include "laboratory/Compare.h"
#include "laboratory/Names.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab {
namespace {

constexpr size_t nameWidth = 32, mostSettings = 10;

/// Characters, not bytes.
size_t widthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string left(std::string text, size_t width) {
  size_t has = widthOf(text);
  return has < width ? text + std::string(width - has, ' ') : text;
}

std::string right(const std::string &text, size_t width) {
  size_t has = widthOf(text);
  return has < width ? std::string(width - has, ' ') + text : text;
}

/// A name for a terminal: what could move the cursor is gone, what is long is cut.
std::string safe(std::string_view name, size_t most) {
  std::string text;
  for (char c : name)
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  if (widthOf(text) <= most)
    return text;
  std::string cut;
  size_t width = 0;
  for (char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 && ++width == most)
      break;
    cut += c;
  }
  return cut + "…";
}

std::string describe(const Study &study) {
  return fmt::format("{} convention, {} suite, {}, {}", safe(study.convention, 40),
                     safe(study.suite, 40),
                     counted(static_cast<int64_t>(study.architectures.size()), "architecture"),
                     safe(study.version, 60));
}

} // namespace

std::string compareText(const Study &a, const Study &b, const std::string &first,
                        const std::string &second) {
  Comparison comparison = compare(a, b);
  std::string out = fmt::format("A  {}: {}\nB  {}: {}\n\n", safe(first, 60), describe(a),
                                safe(second, 60), describe(b));
  for (const std::string &text : comparison.unlike)
    out += fmt::format("UNLIKE: {}\n", safe(text, 2000));
  for (const std::string &text : comparison.differences)
    out += fmt::format("note: {}\n", safe(text, 400));
  if (!comparison.unlike.empty() || !comparison.differences.empty())
    out += "\n";
  if (comparison.architectures.empty())
    return out + "nothing to compare\n";

  size_t names = 12;
  for (const ComparedArchitecture &row : comparison.architectures)
    names = std::max(names, widthOf(safe(row.name, nameWidth)));
  std::vector<std::string> heads{"Overall"};
  for (const std::string &task : comparison.tasks)
    heads.push_back(safe(taskWord(task), 12));
  out += left(fmt::format("{}, %", comparison.measure), names + 5);
  for (const std::string &head : heads)
    out += "  " + right(head, 7);
  out += "\n";
  for (const ComparedArchitecture &row : comparison.architectures) {
    std::vector<Both> cells{row.overall};
    cells.insert(cells.end(), row.tasks.begin(), row.tasks.end());
    bool named = false;
    auto line = [&](std::string_view label, auto text) {
      out +=
          left(named ? "" : safe(row.name, nameWidth), names) + "  " + left(std::string(label), 3);
      named = true;
      for (size_t i = 0; i < cells.size(); ++i)
        out += "  " + right(text(cells[i]), std::max<size_t>(7, widthOf(heads[i])));
      out += "\n";
    };
    for (size_t side : {0, 1})
      if (row.present[side])
        line(side ? "B" : "A", [&](const Both &each) { return percent(each.value[side]); });
    if (row.present[0] && row.present[1])
      line("B-A", [](const Both &each) { return points(each.difference()); });
  }

  bool any = false;
  for (size_t i = 0; i < std::min(mostSettings, comparison.settings.size()); ++i) {
    const ComparedSetting &each = comparison.settings[i];
    if (std::fabs(each.score.difference()) < 0.0005)
      break;
    if (!any)
      out += "\nlargest differences\n";
    any = true;
    out +=
        fmt::format("  {}  {} → {}  {}  {}, {}\n", right(points(each.score.difference()), 6),
                    right(percent(each.score.value[0]), 5), right(percent(each.score.value[1]), 5),
                    left(safe(each.architecture, nameWidth), names), safe(taskTitle(each.task), 40),
                    safe(each.title, 40));
  }
  return out;
}

} // namespace hybrid::rt::lab
