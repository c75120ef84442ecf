//===- Compare.cpp - what two studies have in common, and what not -----------------===//
#include "laboratory/Compare.h"
#include "laboratory/Names.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace hybrid::rt::lab {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

class Mean {
public:
  void add(double value) {
    if (std::isfinite(value)) {
      sum += value;
      ++count;
    }
  }
  double value() const { return count ? sum / static_cast<double>(count) : none; }

private:
  double sum = 0;
  int64_t count = 0;
};

/// The scores of a study by architecture, task and setting.
class Scores {
public:
  Scores(const Study &study, bool macro) : board(scoreStudy(study)) {
    for (const SettingScore &score : board.settings)
      if (score.bestRun)
        values[{score.architecture, score.task, score.setting}] =
            macro ? score.madAccuracy : score.accuracy;
  }
  double at(const std::string &architecture, const SettingScore &setting) const {
    auto found = values.find({architecture, setting.task, setting.setting});
    return found == values.end() ? none : found->second;
  }
  Scoreboard board;

private:
  std::map<std::array<std::string, 3>, double> values;
};

std::map<std::string, const Architecture *> byName(const Study &study) {
  std::map<std::string, const Architecture *> names;
  for (const Architecture &each : study.architectures)
    names.try_emplace(each.name, &each);
  return names;
}

std::set<uint64_t> seedsOf(const Study &study) {
  std::set<uint64_t> seeds;
  for (const Run &run : study.runs)
    seeds.insert(run.seed);
  return seeds;
}

template <typename List> std::string joined(const List &list) {
  std::string text;
  for (const auto &each : list)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", each);
  return text.empty() ? "none" : text;
}

std::set<std::string> settingsOf(const Scoreboard &board) {
  std::set<std::string> settings;
  for (const SettingScore &score : board.settings)
    settings.insert(score.setting);
  return settings;
}

void listUnlike(const Study &a, const Study &b, const std::array<Scores, 2> &scores,
                Comparison &comparison) {
  if (a.convention != b.convention)
    comparison.unlike.push_back(fmt::format(
        "The conventions are {} and {}: they train and score differently, so these numbers say "
        "nothing about architectures.",
        a.convention, b.convention));
  if (a.suite != b.suite)
    comparison.unlike.push_back(
        fmt::format("The suites are {} and {}: only the settings that both have are compared.",
                    a.suite, b.suite));
  std::map<std::string, std::string> options[2];
  options[0].insert(a.options.begin(), a.options.end());
  options[1].insert(b.options.begin(), b.options.end());
  for (int side : {0, 1})
    for (const auto &[name, value] : options[side]) {
      auto other = options[1 - side].find(name);
      if (other == options[1 - side].end())
        comparison.unlike.push_back(fmt::format("Only the {} has the option {}: {}.",
                                                side ? "second" : "first", name, value));
      else if (side == 0 && other->second != value)
        comparison.unlike.push_back(
            fmt::format("The option {} is {} and {}.", name, value, other->second));
    }
  std::map<std::string, const Architecture *> names[2] = {byName(a), byName(b)};
  for (const auto &[name, first] : names[0]) {
    auto found = names[1].find(name);
    if (found == names[1].end())
      continue;
    const Architecture *second = found->second;
    if (first->source != second->source || first->settings != second->settings)
      comparison.unlike.push_back(
          fmt::format("{} is not the same architecture in both: its {} differ{}.", name,
                      first->source != second->source ? "text" : "settings",
                      first->source != second->source ? "s" : ""));
  }
  std::set<std::string> settings[2] = {settingsOf(scores[0].board), settingsOf(scores[1].board)};
  for (int side : {0, 1}) {
    std::vector<std::string> alone;
    std::set_difference(settings[side].begin(), settings[side].end(), settings[1 - side].begin(),
                        settings[1 - side].end(), std::back_inserter(alone));
    if (!alone.empty())
      comparison.differences.push_back(fmt::format(
          "{} only in the {}: {}.", counted(static_cast<int64_t>(alone.size()), "setting"),
          side ? "second" : "first", joined(alone)));
  }
  if (seedsOf(a) != seedsOf(b))
    comparison.differences.push_back(
        fmt::format("The seeds are {} and {}.", joined(seedsOf(a)), joined(seedsOf(b))));
  if (a.version != b.version)
    comparison.differences.push_back(
        fmt::format("The versions are {} and {}.", a.version, b.version));
  for (int side : {0, 1}) {
    int64_t open = 0;
    const Study &study = side ? b : a;
    for (const Run &run : study.runs)
      open += run.status != "done" && run.status != "failed";
    if (open)
      comparison.differences.push_back(fmt::format(
          "The {} is not complete: {} to do.", side ? "second" : "first", counted(open, "run")));
  }
}

} // namespace

Comparison compare(const Study &a, const Study &b) {
  // Micro accuracy means the same under every convention.
  bool macro = a.convention == "mad-lab" && b.convention == "mad-lab";
  const std::array<Scores, 2> scores{Scores(a, macro), Scores(b, macro)};
  Comparison comparison;
  comparison.measure = macro ? "macro accuracy" : "micro accuracy";
  listUnlike(a, b, scores, comparison);

  std::vector<const SettingScore *> settings; // of both, each once
  std::set<std::pair<std::string, std::string>> seen;
  for (const Scores &side : scores)
    for (const SettingScore &score : side.board.settings)
      if (seen.insert({score.task, score.setting}).second)
        settings.push_back(&score);
  for (const Scores &side : scores)
    for (const std::string &task : side.board.tasks)
      if (std::find(comparison.tasks.begin(), comparison.tasks.end(), task) ==
          comparison.tasks.end())
        comparison.tasks.push_back(task);

  std::map<std::string, const Architecture *> names[2] = {byName(a), byName(b)};
  std::vector<std::string> order;
  for (const Study *study : {&a, &b})
    for (const Architecture &each : study->architectures)
      if (std::find(order.begin(), order.end(), each.name) == order.end())
        order.push_back(each.name);
  for (const std::string &name : order) {
    ComparedArchitecture row{name, {names[0].contains(name), names[1].contains(name)}, {}, {}, 0};
    bool inBoth = row.present[0] && row.present[1];
    Mean overall[2];
    for (const std::string &task : comparison.tasks) {
      Mean mean[2];
      for (const SettingScore *setting : settings) {
        if (setting->task != task)
          continue;
        Both score{{scores[0].at(name, *setting), scores[1].at(name, *setting)}};
        bool shared = std::isfinite(score.value[0]) && std::isfinite(score.value[1]);
        if (inBoth && !shared)
          continue;
        for (int side : {0, 1})
          mean[side].add(score.value[side]);
        if (!shared)
          continue;
        ++row.settings;
        comparison.settings.push_back(
            {name, task, setting->setting, settingTitle(setting->axis, setting->axisValue), score});
      }
      row.tasks.push_back({{mean[0].value(), mean[1].value()}});
      for (int side : {0, 1})
        overall[side].add(mean[side].value());
    }
    row.overall = {{overall[0].value(), overall[1].value()}};
    comparison.architectures.push_back(std::move(row));
  }
  std::stable_sort(comparison.settings.begin(), comparison.settings.end(),
                   [](const ComparedSetting &x, const ComparedSetting &y) {
                     return std::fabs(x.score.difference()) > std::fabs(y.score.difference());
                   });
  return comparison;
}

} // namespace hybrid::rt::lab
