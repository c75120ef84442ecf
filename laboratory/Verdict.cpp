//===- Verdict.cpp - what a study allows to be said -------------------------------===//
#include "laboratory/Verdict.h"
#include "laboratory/Names.h"
#include "laboratory/Protocol.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace hybrid::rt::lab {
namespace {

/// A name as part of a headline.
std::string shortName(const std::string &name) {
  constexpr size_t most = 60;
  if (name.size() <= most)
    return name;
  size_t end = most; // not in the middle of a character
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80)
    --end;
  return name.substr(0, end) + "…";
}

Standing standingOf(const ArchitectureScore &score, size_t place, const Scoreboard &board,
                    bool macro) {
  Standing standing{place, NAN, 0, false};
  double tasks = 0;
  for (const TaskScore &task : score.tasks)
    tasks += task.scored > 0;
  if (tasks == 0)
    return standing;
  standing.score = macro ? score.madAccuracy : score.accuracy;
  double variance = 0, weighted = 0; // weighted: squares over degrees of freedom
  for (const TaskScore &task : score.tasks)
    for (const SettingScore &setting : board.settings) {
      if (setting.architecture != score.architecture || setting.task != task.task ||
          !setting.bestRun)
        continue;
      standing.assumed = standing.assumed || setting.seeds < 2;
      const double weight = 1 / (tasks * static_cast<double>(task.scored));
      const double deviation = macro ? setting.madDeviation : setting.deviation;
      const auto seeds = static_cast<double>(setting.seeds);
      const double part = weight * weight * deviation * deviation / seeds;
      variance += part;
      weighted += part * part / std::max(1.0, seeds - 1);
    }
  standing.halfWidth = standing.assumed ? assumedHalfWidth
                       : variance > 0 && weighted > 0
                           ? studentQuantile(variance * variance / weighted) * std::sqrt(variance)
                           : 0;
  return standing;
}

/// The settings that an architecture has a score for: means over others are not to be compared.
std::set<std::string> scoredSettings(const Scoreboard &board, const std::string &architecture) {
  std::set<std::string> settings;
  for (const SettingScore &setting : board.settings)
    if (setting.architecture == architecture && setting.bestRun)
      settings.insert(setting.setting);
  return settings;
}

std::vector<Override> overriddenIn(const Study &study) {
  std::vector<Override> overridden;
  const auto protocol = parseJsonOrNull(study.protocol);
  const bool named = !describeSuite(study.suite).empty();
  if (protocol.is_object() && named) {
    const auto convention =
        study.convention == nameOf(Convention::MadLab) ? Convention::MadLab : Convention::Paper;
    std::map<std::string, std::string> usual;
    for (const auto &[name, value] : Protocol::named(study.suite, convention).options())
      usual.emplace(name, value);
    for (const auto &[name, value] : study.options)
      if (auto found = usual.find(name);
          found != usual.end() && found->second != value && name != "device")
        overridden.push_back({name, value, found->second});
  }
  std::map<std::string, std::set<std::string>> settings; // by name: the values in use
  for (const Architecture &each : study.architectures)
    for (const auto &[name, value] : each.settings)
      settings[name].insert(value);
  for (const auto &[name, values] : settings)
    overridden.push_back(
        {"--set " + name, fmt::format("{}", fmt::join(values, " or ")), "the model's own"});
  return overridden;
}

std::string overriddenText(const Verdict &verdict, const std::string &suite) {
  if (verdict.overridden.empty())
    return "";
  std::string text;
  for (const Override &each : verdict.overridden)
    text += fmt::format("{}{} {} (instead of {})", text.empty() ? "" : "; ", each.name, each.value,
                        each.usual);
  return fmt::format(" Not the {} suite as it is: {}.", suite, text);
}

/// "65.0 to 68.2 %".
std::string interval(const Standing &each) {
  return fmt::format("{} to {} %", percent(each.low()), percent(each.high()));
}

/// What can be said of architectures that can be compared; `standing` has at least two scores.
void judge(Verdict &verdict, const Study &study, const std::string &over) {
  const std::vector<Standing> &standing = verdict.standing;
  auto name = [&](size_t i) {
    return shortName(study.architectures[standing[i].architecture].name);
  };
  const Standing &first = standing[0];
  const bool assumed = std::any_of(standing.begin(), standing.end(),
                                   [](const Standing &each) { return each.assumed; });
  const std::string basis =
      assumed ? "With one seed the scatter is not known; 1.5 points to either side are assumed."
              : "Intervals are 95 %, from the scatter between seeds.";
  if (verdict.tied == 1) {
    verdict.title = fmt::format("{} leads with {} %", name(0), percent(first.score));
    verdict.text = fmt::format("Over {}, its interval of {} lies above that of the second, {}, "
                               "with {} %: {}. {}",
                               over, interval(first), name(1), percent(standing[1].score),
                               interval(standing[1]), basis);
    return;
  }
  const Standing &last = standing[verdict.tied - 1];
  verdict.title = verdict.tied == 2
                      ? fmt::format("{} and {} tie with {} and {} %", name(0), name(1),
                                    percent(first.score), percent(last.score))
                      : fmt::format("{} and {} others tie with {} to {} %", name(0),
                                    verdict.tied - 1, percent(first.score), percent(last.score));
  verdict.text =
      fmt::format("Over {}, their intervals overlap: {} has {}, {} has {}. {}", over, name(0),
                  interval(first), name(verdict.tied - 1), interval(last), basis);
}

} // namespace

double studentQuantile(double degreesOfFreedom) {
  constexpr std::array exact{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  const double whole = std::max(1.0, std::floor(degreesOfFreedom + 1e-6));
  if (whole <= static_cast<double>(exact.size()))
    return exact[static_cast<size_t>(whole) - 1];
  return 1.95996 + 2.37226 / whole + 2.8225 / (whole * whole); // Cornish and Fisher
}

Verdict verdictOf(const Study &study, const Scoreboard &board) {
  Verdict verdict;
  const bool macro = study.convention == nameOf(Convention::MadLab);
  for (size_t i = 0; i < board.architectures.size(); ++i)
    verdict.standing.push_back(standingOf(board.architectures[i], i, board, macro));
  std::stable_sort(
      verdict.standing.begin(), verdict.standing.end(), [](const Standing &a, const Standing &b) {
        return (std::isfinite(a.score) ? a.score : -1) > (std::isfinite(b.score) ? b.score : -1);
      });
  verdict.overridden = overriddenIn(study);
  const auto scored = static_cast<size_t>(
      std::count_if(verdict.standing.begin(), verdict.standing.end(),
                    [](const Standing &each) { return std::isfinite(each.score); }));
  const std::string over = counted(static_cast<int64_t>(board.tasks.size()), "task");
  int64_t open = 0;
  for (const Run &run : study.runs)
    open += run.status != "done" && run.status != "failed";
  auto name = [&](size_t i) {
    return shortName(study.architectures[verdict.standing[i].architecture].name);
  };

  if (study.architectures.empty()) {
    verdict.title = "Nothing was studied";
    verdict.text = "The study has no architectures.";
    return verdict;
  }
  if (scored == 0) {
    verdict.title = "No score yet";
    verdict.text = "No run has come to its end.";
    return verdict;
  }
  const Standing &first = verdict.standing[0];
  verdict.tied = 1;
  while (verdict.tied < scored && verdict.standing[verdict.tied].high() >= first.low())
    ++verdict.tied;
  bool alike = true;
  for (size_t i = 1; i < scored; ++i)
    alike = alike &&
            scoredSettings(board, study.architectures[first.architecture].name) ==
                scoredSettings(board,
                               board.architectures[verdict.standing[i].architecture].architecture);
  if (open > 0 || !alike || (scored < study.architectures.size() && scored > 0)) {
    verdict.title = fmt::format("No verdict: {} has {} % so far", name(0), percent(first.score));
    verdict.text =
        open > 0
            ? fmt::format("{} of {} not done: means are over what is there.", open,
                          counted(static_cast<int64_t>(study.runs.size()), "run"))
            : "The architectures have no scores on the same settings, since runs failed: their "
              "means cannot be compared.";
    verdict.tied = scored;
  } else if (study.architectures.size() == 1) {
    verdict.title = fmt::format("{} scores {} %", name(0), percent(first.score));
    verdict.text = fmt::format("Mean accuracy over {}{}.", over,
                               first.assumed ? ", one seed" : ", " + interval(first));
  } else {
    judge(verdict, study, over);
  }
  verdict.text += overriddenText(verdict, study.suite);
  return verdict;
}

} // namespace hybrid::rt::lab
