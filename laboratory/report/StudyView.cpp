//===- StudyView.cpp - a study in the order of its page ------------------------===//
#include "laboratory/report/StudyView.h"
#include "laboratory/report/Text.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

namespace hybrid::rt::lab::report {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct TaskName {
  std::string_view task, title, word;
};
constexpr TaskName taskNames[] = {
    {"in-context-recall", "In-context recall", "In-context"},
    {"noisy-in-context-recall", "Noisy in-context recall", "Noisy"},
    {"fuzzy-in-context-recall", "Fuzzy in-context recall", "Fuzzy"},
    {"selective-copying", "Selective copying", "Copying"},
    {"compression", "Compression", "Compress"},
    {"memorization", "Memorization", "Memorize"},
};

std::string spaced(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', ' ');
  std::replace(text.begin(), text.end(), '_', ' ');
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

/// A mean over what is there; none without anything.
struct Mean {
  double sum = 0, count = 0;
  void add(double value) {
    if (std::isfinite(value)) {
      sum += value;
      ++count;
    }
  }
  double value() const { return count > 0 ? sum / count : none; }
};

std::map<std::string, size_t> placesOf(const std::vector<Architecture> &architectures) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < architectures.size(); ++i)
    places.try_emplace(architectures[i].name, i);
  return places;
}

std::vector<Axis> axesOf(const std::vector<Setting> &settings, const std::vector<size_t> &members) {
  std::vector<Axis> axes;
  const Setting *baseline = nullptr;
  size_t baselineAt = 0;
  for (size_t i : members)
    if (settings[i].isBaseline() && !baseline) {
      baseline = &settings[i];
      baselineAt = i;
    }
  for (size_t i : members) {
    const Setting &setting = settings[i];
    if (setting.isBaseline())
      continue;
    auto axis = std::find_if(axes.begin(), axes.end(),
                             [&](const Axis &each) { return each.name == setting.axis; });
    if (axis == axes.end()) {
      axis = axes.insert(axes.end(), Axis{setting.axis, {}, {}});
      if (auto value = baseline ? valueIn(baseline->name, setting.axis) : std::nullopt) {
        axis->settings.push_back(baselineAt);
        axis->values.push_back(*value);
      }
    }
    axis->settings.push_back(i);
    axis->values.push_back(setting.axisValue);
  }
  for (Axis &axis : axes) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < axis.settings.size(); ++i)
      order.emplace_back(axis.values[i], axis.settings[i]);
    std::stable_sort(order.begin(), order.end(),
                     [](auto &a, auto &b) { return a.first < b.first; });
    for (size_t i = 0; i < order.size(); ++i)
      std::tie(axis.values[i], axis.settings[i]) = order[i];
  }
  return axes;
}

} // namespace

std::string taskTitle(std::string_view task) {
  for (const TaskName &name : taskNames)
    if (name.task == task)
      return std::string(name.title);
  return spaced(task);
}

std::string taskWord(std::string_view task) {
  for (const TaskName &name : taskNames)
    if (name.task == task)
      return std::string(name.word);
  std::string text = spaced(task);
  return text.size() > 11 ? text.substr(0, text.find(' ')).substr(0, 10) + "…" : text;
}

std::string axisTitle(std::string_view axis) {
  if (axis == "vocab")
    return "vocabulary";
  if (axis == "length")
    return "sequence length";
  if (axis == "train_examples")
    return "training examples";
  if (axis == "frac_noise")
    return "share of noise";
  if (axis == "tokens_to_copy")
    return "tokens to copy";
  std::string text(axis);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::optional<double> valueIn(std::string_view setting, std::string_view key) {
  for (size_t at = setting.find_first_of(":;,"); at != std::string_view::npos;
       at = setting.find_first_of(":;,", at + 1)) {
    std::string_view item = setting.substr(at + 1);
    item = item.substr(0, item.find_first_of(";,"));
    if (item.size() <= key.size() || !item.starts_with(key) || item[key.size()] != '=')
      continue;
    double value = 0;
    std::string_view number = item.substr(key.size() + 1);
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error == std::errc() && end == number.data() + number.size())
      return value;
  }
  return std::nullopt;
}

std::string Setting::title() const {
  return isBaseline() ? "baseline" : axisTitle(axis) + " " + plain(axisValue);
}

StudyView::StudyView(const Study &study, const Scoreboard &scores)
    : study(study), board(scores), byMacro(study.convention == "mad-lab") {
  std::map<std::string, size_t> places = placesOf(study.architectures);
  byArchitecture.resize(count());
  for (const ArchitectureScore &each : scores.architectures)
    if (auto place = places.find(each.architecture); place != places.end())
      byArchitecture[place->second] = &each;

  std::map<std::pair<std::string, std::string>, size_t> settingPlaces;
  for (const SettingScore &each : scores.settings) {
    auto place = places.find(each.architecture);
    if (place == places.end())
      continue;
    auto [found, isNew] = settingPlaces.try_emplace({each.task, each.setting}, settings.size());
    if (isNew) {
      Setting setting;
      setting.task = each.task;
      setting.name = each.setting;
      setting.axis = each.axis;
      setting.axisValue = each.axisValue;
      setting.scores.resize(count());
      settings.push_back(std::move(setting));
    }
    settings[found->second].scores[place->second] = &each;
    hasSweeps = hasSweeps || each.axis != "baseline";
  }

  std::map<std::tuple<std::string, std::string, double, double>, std::set<uint64_t>> repetitions;
  for (const Run &run : study.runs) {
    byId.try_emplace(run.id, &run);
    runSeeds.insert(run.seed);
    if (auto found = settingPlaces.find({run.task, run.setting}); found != settingPlaces.end())
      settings[found->second].chance = run.chance;
    std::set<uint64_t> &seen =
        repetitions[{run.architecture, run.setting, run.learningRate, run.weightDecay}];
    seen.insert(run.seed);
    seeds = std::max(seeds, static_cast<int64_t>(seen.size()));
  }

  for (const std::string &name : scores.tasks) {
    Task task;
    task.name = name;
    for (size_t i = 0; i < settings.size(); ++i)
      if (settings[i].task == name)
        task.settings.push_back(i);
    std::stable_sort(task.settings.begin(), task.settings.end(), [&](size_t a, size_t b) {
      return settings[a].isBaseline() > settings[b].isBaseline();
    });
    if (!task.settings.empty())
      task.chance = settings[task.settings.front()].chance;
    task.axes = axesOf(settings, task.settings);
    tasks.push_back(std::move(task));
  }

  for (size_t i = 0; i < count(); ++i)
    ranking.push_back(i);
  std::stable_sort(ranking.begin(), ranking.end(), [&](size_t a, size_t b) {
    double first = scored(overall(a)), second = scored(overall(b));
    return (std::isfinite(first) ? first : -1) > (std::isfinite(second) ? second : -1);
  });
}

const std::string &StudyView::name(size_t architecture) const {
  return study.architectures[architecture].name;
}

Accuracies StudyView::overall(size_t architecture) const {
  const ArchitectureScore *each = byArchitecture[architecture];
  if (!each || std::none_of(each->tasks.begin(), each->tasks.end(),
                            [](const TaskScore &task) { return task.scored > 0; }))
    return {none, none};
  return {each->accuracy, each->madAccuracy};
}

Accuracies StudyView::overallBaseline(size_t architecture) const {
  Mean micro, macro;
  for (size_t i = 0; i < tasks.size(); ++i) {
    Accuracies both = onBaseline(architecture, i);
    micro.add(both.micro);
    macro.add(both.macro);
  }
  return {micro.value(), macro.value()};
}

Accuracies StudyView::onTask(size_t architecture, size_t task) const {
  if (const ArchitectureScore *each = byArchitecture[architecture])
    for (const TaskScore &score : each->tasks)
      if (score.task == tasks[task].name && score.scored > 0)
        return {score.accuracy, score.madAccuracy};
  return {none, none};
}

Accuracies StudyView::onBaseline(size_t architecture, size_t task) const {
  for (size_t setting : tasks[task].settings)
    if (settings[setting].isBaseline())
      return onSetting(architecture, setting);
  return {none, none};
}

Accuracies StudyView::onSetting(size_t architecture, size_t setting) const {
  const SettingScore *score = settings[setting].scores[architecture];
  if (!score || !score->bestRun)
    return {none, none};
  return {score->accuracy, score->madAccuracy};
}

double StudyView::bestOnTask(size_t task) const {
  double best = none;
  for (size_t i = 0; i < count(); ++i)
    best = std::fmax(best, scored(onTask(i, task)));
  return best;
}

const Run *StudyView::run(int64_t id) const {
  auto found = byId.find(id);
  return found == byId.end() ? nullptr : found->second;
}

StudyView::Counts StudyView::counts(std::optional<size_t> architecture) const {
  Counts counts;
  for (const Run &run : study.runs) {
    if (architecture && run.architecture != name(*architecture))
      continue;
    ++counts.runs;
    if (run.status == "done")
      ++counts.done;
    else if (run.diverged)
      ++counts.diverged;
    else if (run.status == "failed")
      ++counts.failed;
  }
  return counts;
}

} // namespace hybrid::rt::lab::report
