//===- DifficultySection.cpp - accuracy as a task gets harder -------------------===//
#include "laboratory/report/Charts.h"
#include "laboratory/report/Sections.h"
#include "laboratory/report/Text.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace hybrid::rt::lab::report {
namespace {

bool isGeometric(const Axis &axis) {
  return !axis.values.empty() && axis.values.front() >= 1 &&
         axis.values.back() / axis.values.front() > 3;
}

std::string titleOf(const StudyView &view, size_t architecture, const Setting &setting,
                    const std::string &place) {
  const SettingScore &score = *setting.scores[architecture];
  std::string text = fmt::format("{}\n{}: {} %", view.name(architecture), place,
                                 percent(view.byMacro ? score.madAccuracy : score.accuracy));
  if (double deviation = view.byMacro ? score.madDeviation : score.deviation; deviation > 0)
    text += fmt::format(" ± {}", percent(deviation));
  text += fmt::format("\nlearning rate {}, weight decay {}", plain(score.learningRate),
                      plain(score.weightDecay));
  return text;
}

std::string drawAxis(const StudyView &view, const Task &task, const Axis &axis) {
  LineChart chart;
  chart.xLabel = axisTitle(axis.name);
  chart.yLabel = "accuracy, %";
  chart.xScale = isGeometric(axis) ? Scale::Log : Scale::Linear;
  chart.xTicks = axis.values;
  chart.width = 280;
  chart.height = 200;
  // To the right it gets harder, on every axis.
  if (axis.name == "train_examples") {
    chart.falling = true;
    chart.xLabel += ", falling";
  }
  chart.label = fmt::format("{}: accuracy against {}.", taskTitle(task.name), axisTitle(axis.name));
  for (size_t i : view.ranking) {
    Series series{i, "", {}};
    for (size_t k = 0; k < axis.settings.size(); ++k) {
      const Setting &setting = view.settings[axis.settings[k]];
      double value = view.scored(view.onSetting(i, axis.settings[k]));
      std::string place = axisTitle(axis.name) + " " + plain(axis.values[k]);
      series.points.push_back(
          {axis.values[k], value,
           std::isfinite(value) ? titleOf(view, i, setting, place) : std::string(), true});
    }
    if (!axis.settings.empty()) {
      auto end = [&](size_t k) { return percent(series.points[k].y); };
      chart.label +=
          fmt::format(" {}: {} to {} %.", view.name(i), end(0), end(series.points.size() - 1));
    }
    chart.series.push_back(std::move(series));
  }
  for (size_t k = 0; k < axis.settings.size(); ++k)
    if (double chance = view.settings[axis.settings[k]].chance; chance > 0)
      chart.reference.push_back(
          {axis.values[k], chance, "guessing among the legal answers", false});
  // The first in the ranking is drawn last: on top.
  std::reverse(chart.series.begin(), chart.series.end());
  return "<figure>" + drawLines(chart) + "</figure>";
}

} // namespace

std::string difficultySection(const StudyView &view) {
  if (std::all_of(view.tasks.begin(), view.tasks.end(),
                  [](const Task &task) { return task.axes.empty(); }))
    return "";
  std::string out =
      R"(<section id="difficulty"><h2>As a task gets harder</h2>)"
      "<p>One thing at a time differs from the baseline, which is the first point of each line. "
      "Each point is the best run of its grid. Dotted: guessing among the legal answers.</p>";
  out += legend(view);
  for (const Task &task : view.tasks) {
    if (task.axes.empty())
      continue;
    out += fmt::format(R"(<div class="task"><h3>{}</h3><div class="grid-of">)",
                       escaped(taskTitle(task.name)));
    for (const Axis &axis : task.axes)
      out += drawAxis(view, task, axis);
    out += "</div></div>";
  }
  return out + "</section>";
}

} // namespace hybrid::rt::lab::report
