//===- PaperText.cpp - printed beside measured, as text ------------------------------===//
#include "laboratory/paper/PaperText.h"
#include "laboratory/Columns.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt::lab {
namespace {

/// "97.2", "does not fit", "-" for nothing.
std::string textOf(const PaperValue &value, int64_t digits = 1) {
  if (const auto *number = std::get_if<double>(&value))
    return fmt::format("{:.{}f}", *number, std::fabs(*number) >= 1000 ? 0 : digits);
  const auto *text = std::get_if<std::string>(&value);
  return text ? *text : "-";
}

PaperValue cellOf(const std::map<std::pair<std::string, std::string>, PaperValue> &cells,
                  const std::string &row, const std::string &column) {
  auto found = cells.find({row, column});
  return found == cells.end() ? PaperValue() : found->second;
}

nlohmann::ordered_json jsonOf(const PaperValue &value) {
  if (const auto *number = std::get_if<double>(&value))
    return *number;
  if (const auto *text = std::get_if<std::string>(&value))
    return *text;
  return nullptr;
}

/// The places behind the point that a column's numbers have.
int64_t digitsOf(const Recipe &recipe, const std::string &column) {
  for (const RecipeColumn &each : recipe.columns)
    if (each.name == column)
      return each.digits;
  return 1;
}

PaperOutcome::Checked checkOrder(const RecipeCheck &check, const Recipe &recipe,
                                 const PaperOutcome &outcome) {
  std::vector<std::string> parts;
  bool holds = true;
  std::optional<double> before;
  for (const std::string &row : check.rows) {
    const PaperValue cell = cellOf(outcome.measured, row, check.column);
    const auto *value = std::get_if<double>(&cell);
    parts.push_back(fmt::format("{} {}", row, textOf(cell, digitsOf(recipe, check.column))));
    const double sign = check.falling ? -1 : 1;
    holds = holds && value && (!before || sign * (*before - *value) >= check.value);
    if (value)
      before = *value;
  }
  return {fmt::format("at {}: {}{}", check.column, fmt::join(parts, check.falling ? " < " : " > "),
                      check.value > 0 ? fmt::format(", each by {} or more", check.value) : ""),
          holds};
}

PaperOutcome::Checked checkWithin(const RecipeCheck &check, const Recipe &recipe,
                                  const PaperOutcome &outcome) {
  size_t cells = 0, near = 0;
  std::vector<std::string> far;
  for (const auto &[place, printed] : recipe.printed) {
    const auto &[row, column] = place;
    const bool asked = std::any_of(recipe.rows.begin(), recipe.rows.end(),
                                   [&](const RecipeRow &each) { return each.name == row; }) &&
                       std::any_of(recipe.columns.begin(), recipe.columns.end(),
                                   [&](const RecipeColumn &each) { return each.name == column; });
    if (!asked || (!check.column.empty() && check.column != column) ||
        (!check.rows.empty() &&
         std::find(check.rows.begin(), check.rows.end(), row) == check.rows.end()))
      continue;
    ++cells;
    const PaperValue measured = cellOf(outcome.measured, row, column);
    const auto *wanted = std::get_if<double>(&printed), *value = std::get_if<double>(&measured);
    const double limit =
        wanted ? check.value * (check.relative ? std::fabs(*wanted) : 1) + 1e-9 : 0;
    if (wanted && value ? std::fabs(*value - *wanted) <= limit : printed == measured)
      ++near;
    else
      far.push_back(
          fmt::format("{} at {}: {}, printed {}", row, column, textOf(measured), textOf(printed)));
  }
  return {fmt::format("{} of {} cells within {:.6g}{} of what is printed{}", near, cells,
                      check.relative ? 100 * check.value : check.value, check.relative ? " %" : "",
                      far.empty() ? "" : fmt::format(" (not: {})", fmt::join(far, "; "))),
          cells > 0 && near == cells};
}

PaperOutcome::Checked checkLeast(const RecipeCheck &check, const Recipe &recipe,
                                 const PaperOutcome &outcome) {
  bool holds = true;
  std::vector<std::string> parts;
  for (const RecipeColumn &column : recipe.columns) {
    if (!check.column.empty() && check.column != column.name)
      continue;
    const PaperValue cell = cellOf(outcome.measured, check.rows[0], column.name);
    const auto *value = std::get_if<double>(&cell);
    holds = holds && value && *value >= check.value;
    parts.push_back(fmt::format("{} at {}", textOf(cell), column.name));
  }
  return {fmt::format("{} has {} or more: {}", check.rows[0], check.value, fmt::join(parts, ", ")),
          holds};
}

PaperOutcome::Checked checkGain(const RecipeCheck &check, const Recipe &recipe,
                                const PaperOutcome &outcome) {
  bool whole = true;
  auto mean = [&](const std::vector<std::string> &rows) {
    double sum = 0, count = 0;
    for (const std::string &row : rows)
      for (const RecipeColumn &column : recipe.columns) {
        if (!check.column.empty() && check.column != column.name)
          continue;
        const PaperValue cell = cellOf(outcome.measured, row, column.name);
        const auto *value = std::get_if<double>(&cell);
        whole = whole && value;
        sum += value ? *value : 0;
        ++count;
      }
    return sum / count;
  };
  const double ours = mean(check.rows), theirs = mean(check.over);
  return {fmt::format("{} ({:.1f}) over {} ({:.1f}){}: {:+.1f}", fmt::join(check.rows, ", "), ours,
                      fmt::join(check.over, ", "), theirs,
                      check.column.empty() ? "" : " at " + check.column, ours - theirs),
          whole && ours - theirs > check.value};
}

PaperOutcome::Checked checkFalls(const RecipeCheck &check, const Recipe &recipe,
                                 const PaperOutcome &outcome) {
  bool holds = true;
  std::vector<std::string> parts;
  for (const std::string &row : check.rows) {
    std::optional<double> before;
    std::string values;
    for (const std::string &column : check.columns) {
      const PaperValue cell = cellOf(outcome.measured, row, column);
      const auto *value = std::get_if<double>(&cell);
      holds = holds && value && (!before || *before - *value > check.value);
      if (value)
        before = *value;
      values += (values.empty() ? "" : " > ") + textOf(cell, digitsOf(recipe, column));
    }
    parts.push_back(fmt::format("{} {}", row, values));
  }
  return {fmt::format("falls from {} to {}: {}", check.columns.front(), check.columns.back(),
                      fmt::join(parts, "; ")),
          holds};
}

} // namespace

int64_t PaperOutcome::held() const {
  return std::count_if(checks.begin(), checks.end(),
                       [](const Checked &check) { return check.holds; });
}

std::vector<PaperOutcome::Checked> checkRecipe(const Recipe &recipe, const PaperOutcome &outcome) {
  std::vector<PaperOutcome::Checked> checked;
  auto measures = [&](const RecipeCheck &check) { // a budget may leave rows and columns out
    for (const auto *rows : {&check.rows, &check.over})
      for (const std::string &row : *rows)
        if (std::none_of(recipe.rows.begin(), recipe.rows.end(),
                         [&](const RecipeRow &each) { return each.name == row; }))
          return false;
    std::vector<std::string> columns = check.columns;
    if (!check.column.empty())
      columns.push_back(check.column);
    return std::all_of(columns.begin(), columns.end(), [&](const std::string &name) {
      return std::any_of(recipe.columns.begin(), recipe.columns.end(),
                         [&](const RecipeColumn &each) { return each.name == name; });
    });
  };
  for (const RecipeCheck &check : recipe.checks) {
    if (!measures(check))
      continue;
    switch (check.kind) {
    case RecipeCheck::Kind::Order:
      checked.push_back(checkOrder(check, recipe, outcome));
      break;
    case RecipeCheck::Kind::Within:
      checked.push_back(checkWithin(check, recipe, outcome));
      break;
    case RecipeCheck::Kind::Least:
      checked.push_back(checkLeast(check, recipe, outcome));
      break;
    case RecipeCheck::Kind::Gain:
      checked.push_back(checkGain(check, recipe, outcome));
      break;
    case RecipeCheck::Kind::Falls:
      checked.push_back(checkFalls(check, recipe, outcome));
      break;
    }
  }
  return checked;
}

nlohmann::ordered_json paperJson(const Recipe &recipe, const PaperOutcome &outcome) {
  using json = nlohmann::ordered_json;
  json columns = json::array(), rows = json::array(), checks = json::array();
  for (const RecipeColumn &column : recipe.columns)
    columns.push_back({{"name", column.name},
                       {"task", column.task},
                       {"training", column.training},
                       {"length", column.length},
                       {"digits", column.digits}});
  for (const RecipeRow &row : recipe.rows) {
    json cells = json::array();
    for (const RecipeColumn &column : recipe.columns)
      cells.push_back({{"measured", jsonOf(cellOf(outcome.measured, row.name, column.name))},
                       {"printed", jsonOf(cellOf(recipe.printed, row.name, column.name))}});
    rows.push_back({{"name", row.name},
                    {"path", row.model.path},
                    {"settings", row.model.settings},
                    {"cells", std::move(cells)}});
  }
  for (const auto &check : outcome.checks)
    checks.push_back({{"text", check.text}, {"holds", check.holds}});
  return {{"kind", "paper"},
          {"title", fmt::format("{}: {} of {} checks hold", fmt::join(recipe.items, ", "),
                                outcome.held(), outcome.checks.size())},
          {"text", fmt::format("{}, at the budget '{}'.", recipe.title, recipe.budget)},
          {"recipe", recipe.name},
          {"paper", recipe.paper},
          {"items", recipe.items},
          {"budget", recipe.budget},
          {"unit", recipe.unit},
          {"note", recipe.note},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)},
          {"checks", std::move(checks)}};
}

/// A measured value, beside the printed one where a recipe has any.
static std::string cellText(const Recipe &recipe, const PaperOutcome &outcome, const RecipeRow &row,
                            const RecipeColumn &column) {
  std::string text = textOf(cellOf(outcome.measured, row.name, column.name), column.digits);
  if (!recipe.printed.empty())
    text +=
        fmt::format(" ({})", textOf(cellOf(recipe.printed, row.name, column.name), column.digits));
  return text;
}

std::string paperTable(const Recipe &recipe, const PaperOutcome &outcome) {
  std::vector<std::vector<std::string>> rows(1);
  rows[0].push_back(recipe.printed.empty() ? recipe.unit : recipe.unit + " (printed)");
  for (const RecipeColumn &column : recipe.columns)
    rows[0].push_back(column.name);
  for (const RecipeRow &row : recipe.rows) {
    std::vector<std::string> cells{row.name};
    for (const RecipeColumn &column : recipe.columns)
      cells.push_back(cellText(recipe, outcome, row, column));
    rows.push_back(std::move(cells));
  }
  std::string text = fmt::format("{}: {}, budget {}\n{}", fmt::join(recipe.items, ", "),
                                 recipe.title, recipe.budget, alignColumns(rows, 0));
  for (const auto &check : outcome.checks)
    text += fmt::format("{} {}\n", check.holds ? "holds:" : "DOES NOT HOLD:", check.text);
  return text;
}

std::string paperSection(const Recipe &recipe, const PaperOutcome &outcome,
                         const std::string &version) {
  std::string text =
      fmt::format("## {}: {}\n\n`hybrid-run paper {} --budget {}`, {}.",
                  fmt::join(recipe.items, ", "), recipe.title, recipe.name, recipe.budget, version);
  if (!recipe.note.empty())
    text += " " + recipe.note;
  text += fmt::format("\n\n| {}{} |", recipe.unit,
                      recipe.printed.empty() ? "" : ", measured (printed)");
  std::string rule = "| --- |";
  for (const RecipeColumn &column : recipe.columns) {
    text += fmt::format(" {} |", column.name);
    rule += " ---: |";
  }
  text += "\n" + rule + "\n";
  for (const RecipeRow &row : recipe.rows) {
    text += fmt::format("| {} |", row.name);
    for (const RecipeColumn &column : recipe.columns)
      text += fmt::format(" {} |", cellText(recipe, outcome, row, column));
    text += "\n";
  }
  text += "\n";
  for (const auto &check : outcome.checks)
    text += fmt::format("- {} {}\n", check.holds ? "holds:" : "**does not hold:**", check.text);
  return text;
}

} // namespace hybrid::rt::lab
