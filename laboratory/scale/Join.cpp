//===- Join.cpp - scores of synthetic tasks beside perplexities at scale ----------------===//
#include "laboratory/scale/Join.h"
#include "laboratory/Columns.h"
#include "laboratory/scale/Correlation.h"
#include "laboratory/scale/FitReport.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace hybrid::rt::lab::scale {
namespace {

constexpr size_t fewestGroups = 3;

/// The mean of a task's settings' losses; nothing if one lacks it.
std::optional<double> lossOf(const nlohmann::json &task) {
  auto settings = task.find("settings");
  if (settings == task.end() || !settings->is_array() || settings->empty())
    return std::nullopt;
  double sum = 0;
  for (const nlohmann::json &setting : *settings) {
    auto loss = jsonField<double>(setting, "best_loss");
    if (!loss)
      return std::nullopt;
    sum += *loss;
  }
  return sum / static_cast<double>(settings->size());
}

class Columns {
public:
  void add(const std::string &task, const std::string &measure, const std::string &architecture,
           std::optional<double> score) {
    if (!score)
      return;
    for (ScoreColumn &column : columns)
      if (column.task == task && column.measure == measure) {
        column.scores[architecture] = *score;
        return;
      }
    columns.push_back({task, measure, {{architecture, *score}}});
  }
  std::vector<ScoreColumn> columns;
};

/// Perplexities of the minima at a budget, by group.
struct Level {
  double flops = 0;
  std::map<std::string, double> perplexities;
};

std::vector<Level> levelsOf(const Fit &fit) {
  std::vector<std::pair<double, std::pair<std::string, double>>> minima;
  for (const GroupFit &group : fit.groups)
    for (const BudgetFit &budget : group.budgets)
      if (budget.doubt == Doubt::None)
        minima.push_back({budget.flops, {group.group, std::exp(budget.minimum.loss)}});
  std::sort(minima.begin(), minima.end());
  std::vector<Level> levels;
  for (const auto &[flops, minimum] : minima) {
    if (levels.empty() || flops > levels.back().flops * (1 + fit.options.tolerance))
      levels.push_back({flops, {}});
    levels.back().perplexities.insert(minimum);
  }
  return levels;
}

Error namesDoNotMeet(const Fit &fit, const std::vector<ScoreColumn> &columns) {
  std::set<std::string> groups, architectures;
  for (const GroupFit &group : fit.groups)
    groups.insert(group.group);
  for (const ScoreColumn &column : columns)
    for (const auto &[name, score] : column.scores)
      architectures.insert(name);
  return Error{fmt::format("a correlation needs {} architectures with a minimum at one budget and "
                           "a score; the points' groups are {}, the study's architectures {}",
                           fewestGroups, fmt::join(groups, ", "), fmt::join(architectures, ", "))};
}

} // namespace

Result<std::vector<ScoreColumn>> scoresOf(const nlohmann::json &study, const std::string &name) {
  auto architectures = study.is_object() ? study.find("architectures") : study.end();
  auto scoredBy = jsonField<std::string>(study, "scored_by");
  if (!scoredBy || architectures == study.end() || !architectures->is_array())
    return Error{fmt::format("{}: is no study of the laboratory: it has no architectures with "
                             "scores (hybrid-run mad writes study.json)",
                             name)};
  Columns columns;
  for (const nlohmann::json &each : *architectures) {
    auto architecture = jsonField<std::string>(each, "architecture");
    auto tasks = each.find("tasks");
    if (!architecture || tasks == each.end() || !tasks->is_object())
      return Error{fmt::format("{}: an architecture has no name or no tasks", name)};
    columns.add("", "accuracy", *architecture, jsonField<double>(each, *scoredBy));
    for (const auto &[task, scores] : tasks->items()) {
      columns.add(task, "accuracy", *architecture, jsonField<double>(scores, *scoredBy));
      columns.add(task, "loss", *architecture, lossOf(scores));
    }
  }
  return columns.columns;
}

Result<std::vector<ScoreColumn>> readScores(const std::string &path) {
  std::string file = path;
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown))
    file += "/study.json";
  auto text = readText(file);
  if (!text)
    return text.error();
  auto study = parseJson(*text, file);
  if (!study)
    return study.error();
  return scoresOf(*study, file);
}

Result<std::vector<Correlated>> join(const Fit &fit, const std::vector<ScoreColumn> &columns) {
  std::vector<Correlated> rows;
  for (const Level &level : levelsOf(fit))
    for (const ScoreColumn &column : columns) {
      Correlated row{level.flops, column.task, column.measure, {}, {}, {}, {}, {}};
      for (const auto &[group, perplexity] : level.perplexities)
        if (auto found = column.scores.find(group); found != column.scores.end()) {
          row.groups.push_back(group);
          row.scores.push_back(found->second);
          row.perplexities.push_back(perplexity);
        }
      if (row.groups.size() < fewestGroups)
        continue;
      const double share = fit.options.bootstrap.level;
      row.linear = linearCorrelation(row.scores, row.perplexities, share);
      row.rank = rankCorrelation(row.scores, row.perplexities, share);
      rows.push_back(std::move(row));
    }
  if (rows.empty())
    return namesDoNotMeet(fit, columns);
  return rows;
}

nlohmann::ordered_json joinJson(const std::vector<Correlated> &rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Correlated &row : rows) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (size_t i = 0; i < row.groups.size(); ++i)
      points.push_back({{"group", row.groups[i]},
                        {"score", row.scores[i]},
                        {"perplexity", row.perplexities[i]}});
    list.push_back(
        {{"flops", row.flops},
         {"task", row.task.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(row.task)},
         {"measure", row.measure},
         {"linear", estimateJson(row.linear)},
         {"rank", estimateJson(row.rank)},
         {"points", std::move(points)}});
  }
  return {{"kind", "scaling-correlation"}, {"correlations", std::move(list)}};
}

std::string joinText(const std::vector<Correlated> &rows) {
  std::vector<std::vector<std::string>> cells{
      {"task", "by", "budget", "architectures", "linear", "rank"}};
  auto text = [](const Estimate &estimate) {
    return std::isfinite(estimate.value) ? estimateText(estimate) : "no variation";
  };
  for (const Correlated &row : rows)
    cells.push_back({row.task.empty() ? "all" : row.task, row.measure,
                     fmt::format("{:.3g}", row.flops), std::to_string(row.groups.size()),
                     text(row.linear), text(row.rank)});
  return "correlation of scores with perplexity at the best size of a budget\n" +
         alignColumns(cells, 0);
}

} // namespace hybrid::rt::lab::scale
