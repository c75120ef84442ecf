//===- Join.h - scores of synthetic tasks beside perplexities at scale ------------------===//
//
// Poli et al. 2024, section 5, figures 4.1 and B.8: whether architectures that score well on MAD's
// tasks reach lower perplexities where they are trained best, budget by budget.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/scale/Fit.h"
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace hybrid::rt::lab::scale {

/// Scores of one kind, by architecture.
struct ScoreColumn {
  std::string task;    // empty: the mean over tasks
  std::string measure; // "accuracy" or "loss", that of the task's settings in the mean
  std::map<std::string, double> scores;
};

/// Of a study of the laboratory: its study.json, or the folder with it. An architecture that lacks
/// a score is left out of its column.
Result<std::vector<ScoreColumn>> readScores(const std::string &path);
/// The same of the JSON; `name` is the file's in errors.
Result<std::vector<ScoreColumn>> scoresOf(const nlohmann::json &study, const std::string &name);

/// A score against the perplexity of the minima at a budget.
struct Correlated {
  double flops = 0;
  std::string task, measure;
  std::vector<std::string> groups; // architectures with both
  std::vector<double> scores, perplexities;
  Estimate linear, rank;
};

/// Groups are architectures by name. Budgets of different groups are one within the fit's
/// tolerance. An error says which names do not meet where fewer than three do.
Result<std::vector<Correlated>> join(const Fit &fit, const std::vector<ScoreColumn> &columns);

nlohmann::ordered_json joinJson(const std::vector<Correlated> &rows);
std::string joinText(const std::vector<Correlated> &rows);
/// The same as data of the page (kind "scaling-correlation"), and the page itself.
nlohmann::ordered_json joinPageJson(const std::vector<Correlated> &rows);
Result<void> writeJoinPage(const std::vector<Correlated> &rows, const std::string &path);

} // namespace hybrid::rt::lab::scale
