//===- ScoreSection.cpp - who scores what --------------------------------------===//
#include "laboratory/report/Charts.h"
#include "laboratory/report/Sections.h"
#include "laboratory/report/Text.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <iterator>

namespace hybrid::rt::lab::report {
namespace {

using Value = std::function<double(size_t architecture)>;

struct Column {
  std::string head; // HTML
  Value value;
  bool first = false; // of a group
  double best = -INFINITY;
};

/// Number for a custom property: no more digits than a picture shows.
std::string property(double share) {
  return fmt::format("{:.3f}", std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0);
}

std::string sortValue(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string();
}

std::string scoreCell(const Column &column, size_t architecture) {
  double value = column.value(architecture);
  std::string classes = "number";
  if (std::isfinite(value))
    classes += " heat";
  if (column.first)
    classes += " first";
  if (std::isfinite(value) && percent(value) == percent(column.best))
    classes += " best";
  return fmt::format(R"(<td class="{}" style="--v:{}" data-value="{}">{}</td>)", classes,
                     property(value), sortValue(value), percent(value));
}

/// The table of one way to score: `overall` and `onTask` give both accuracies.
std::string scoreTable(const StudyView &view, std::string_view caption,
                       const std::function<Accuracies(size_t)> &overall,
                       const std::function<Accuracies(size_t, size_t)> &onTask) {
  std::vector<Column> columns;
  auto addBoth = [&](std::function<Accuracies(size_t)> both) {
    columns.push_back({"micro", [both](size_t i) { return both(i).micro; }, true});
    columns.push_back({"macro", [both](size_t i) { return both(i).macro; }, false});
  };
  std::string groups = R"(<th colspan="2" scope="colgroup" class="group first">Overall</th>)";
  addBoth(overall);
  for (size_t task = 0; task < view.tasks.size(); ++task) {
    groups +=
        fmt::format(R"(<th colspan="2" scope="colgroup" class="group first" title="{}">{}</th>)",
                    escaped(view.tasks[task].name), escaped(taskWord(view.tasks[task].name)));
    addBoth([onTask, task](size_t i) { return onTask(i, task); });
  }
  for (Column &column : columns)
    for (size_t i = 0; i < view.count(); ++i)
      if (double value = column.value(i); std::isfinite(value))
        column.best = std::max(column.best, value);

  std::string out = R"(<div class="wide" role="region" tabindex="0" aria-label="Table of scores">)"
                    R"(<table class="sortable scores"><caption>)";
  auto append = std::back_inserter(out);
  fmt::format_to(
      append,
      R"({}</caption><thead><tr><th class="corner" rowspan="2" scope="col" data-column="0">)"
      R"(<button type="button">Architecture</button></th>{})"
      R"(<th class="number first" rowspan="2" scope="col" data-column="{}">)"
      R"(<button type="button">Runs</button></th></tr><tr>)",
      caption, groups, columns.size() + 1);
  for (size_t i = 0; i < columns.size(); ++i) {
    bool sorted = i == (view.byMacro ? 1 : 0);
    fmt::format_to(
        append,
        R"(<th class="number{}" scope="col" data-column="{}"{}><button type="button">{}</button></th>)",
        columns[i].first ? " first" : "", i + 1, sorted ? R"( aria-sort="descending")" : "",
        columns[i].head);
  }
  out += "</tr></thead><tbody>";
  for (size_t i : view.ranking) {
    fmt::format_to(append, R"(<tr data-series="{}"><th scope="row">{}</th>)", i, who(view, i));
    for (const Column &column : columns)
      out += scoreCell(column, i);
    StudyView::Counts counts = view.counts(i);
    std::string runs = fmt::format("{}", counts.done);
    if (counts.open() > 0)
      runs += fmt::format(" of {}", counts.runs);
    if (counts.failed + counts.diverged > 0)
      runs += fmt::format(" <span title=\"failed or diverged\">+{}&nbsp;✗</span>",
                          counts.failed + counts.diverged);
    fmt::format_to(append, R"(<td class="number first" data-value="{}">{}</td></tr>)", counts.done,
                   runs);
  }
  return out + "</tbody></table></div>";
}

std::string shortLabel(const StudyView &view, size_t architecture) {
  std::string label = view.name(architecture) + ":";
  for (size_t task = 0; task < view.tasks.size(); ++task)
    label += fmt::format("{} {} {} %", task ? "," : "", taskWord(view.tasks[task].name),
                         percent(view.scored(view.onTask(architecture, task))));
  return label;
}

} // namespace

std::string who(const StudyView &view, size_t architecture) {
  std::string name = escaped(view.name(architecture));
  return fmt::format(R"(<span class="who">{}<span class="name" title="{}">{}</span></span>)",
                     drawKey(architecture), name, name);
}

std::string legend(const StudyView &view) {
  std::string out = R"(<div class="legend" role="group" aria-label="Single out architectures">)";
  for (size_t i : view.ranking) {
    std::string name = escaped(view.name(i));
    fmt::format_to(
        std::back_inserter(out),
        R"(<button type="button" class="c{}" data-series="{}" aria-pressed="false" title="{}">)"
        R"({}<span class="name">{}</span></button>)",
        i % 8, i, name, drawKey(i), name);
  }
  return out + "</div>";
}

std::string verdictBars(const StudyView &view) {
  if (view.ranking.empty() || view.tasks.empty())
    return "";
  std::string out = R"(<ol class="bars" aria-label="Overall score">)";
  auto append = std::back_inserter(out);
  for (size_t i : view.ranking) {
    double score = view.scored(view.overall(i));
    double baseline = view.hasSweeps ? view.scored(view.overallBaseline(i)) : NAN;
    bool leads = i == view.ranking.front() && std::isfinite(score);
    fmt::format_to(append, R"(<li data-series="{}" class="c{}{}">{}<span class="bar">)", i, i % 8,
                   leads ? " lead" : "", who(view, i));
    if (std::isfinite(score))
      fmt::format_to(append, R"(<i style="--v:{}"></i>)", property(score));
    if (std::isfinite(baseline))
      fmt::format_to(append, R"(<b style="--v:{}" title="baseline settings only: {} %"></b>)",
                     property(baseline), percent(baseline));
    fmt::format_to(append, R"(</span><span class="number">{}&nbsp;%</span></li>)", percent(score));
  }
  out += "</ol>";
  fmt::format_to(
      append, R"(<p class="scale">{} accuracy, mean of {}{}.</p>)",
      view.byMacro ? "Macro" : "Micro", counted(static_cast<int64_t>(view.tasks.size()), "task"),
      view.hasSweeps
          ? ", each the mean of its settings; <b></b>&nbsp;on the baseline settings alone"
          : " at the baseline setting");
  return out;
}

std::string scoreSection(const StudyView &view) {
  if (view.tasks.empty() || view.count() == 0)
    return "";
  std::string out = R"(<section id="scores"><h2>Scores</h2><p>)";
  out += fmt::format(
      "Accuracy in percent, best run of the grid. <em>Micro</em> counts every scored token alike; "
      "<em>macro</em> is MAD's mean over classes within a batch. The {} convention scores by {}. "
      "The largest of a column is bold.</p>",
      escaped(view.study.convention), view.byMacro ? "macro" : "micro");
  auto mean = scoreTable(
      view, view.hasSweeps ? "Mean over all settings of a task" : "Baseline setting of each task",
      [&](size_t i) { return view.overall(i); },
      [&](size_t i, size_t task) { return view.onTask(i, task); });
  if (!view.hasSweeps)
    return out + mean + "</section>";
  auto baseline = scoreTable(
      view, "Baseline setting of each task alone",
      [&](size_t i) { return view.overallBaseline(i); },
      [&](size_t i, size_t task) { return view.onBaseline(i, task); });
  return out +
         R"(<div class="tabs needs-script" role="tablist" aria-label="Settings counted" hidden>)"
         R"(<button type="button" role="tab" id="tab-mean" aria-controls="panel-mean">All settings</button>)"
         R"(<button type="button" role="tab" id="tab-baseline" aria-controls="panel-baseline">Baseline only</button></div>)"
         R"(<div class="panel" role="tabpanel" id="panel-mean" aria-labelledby="tab-mean">)" +
         mean +
         R"(</div><div class="panel" role="tabpanel" id="panel-baseline" aria-labelledby="tab-baseline">)" +
         baseline + "</div></section>";
}

std::string profileSection(const StudyView &view) {
  if (view.tasks.empty() || view.count() == 0)
    return "";
  std::string out = R"(<section id="profile"><h2>Strengths and weaknesses</h2><p>)";
  auto append = std::back_inserter(out);
  fmt::format_to(append, "{} accuracy by task. Dotted: guessing among the legal answers.</p>",
                 view.byMacro ? "Macro" : "Micro");
  out += R"(<div class="grid-of by-task">)";
  for (size_t task = 0; task < view.tasks.size(); ++task) {
    std::vector<size_t> order = view.ranking;
    auto value = [&](size_t i) { return view.scored(view.onTask(i, task)); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      double first = value(a), second = value(b);
      return (std::isfinite(first) ? first : -1) > (std::isfinite(second) ? second : -1);
    });
    fmt::format_to(append,
                   R"(<figure><figcaption class="name">{}</figcaption><ol class="bars small">)",
                   escaped(taskTitle(view.tasks[task].name)));
    for (size_t i : order) {
      fmt::format_to(
          append,
          R"(<li data-series="{}" class="c{}"><span class="name" title="{}">{}</span><span class="bar">)",
          i, i % 8, escaped(view.name(i)), escaped(view.name(i)));
      if (std::isfinite(value(i)))
        fmt::format_to(append, R"(<i style="--v:{}"></i>)", property(value(i)));
      if (view.tasks[task].chance > 0)
        fmt::format_to(append, R"(<b class="chance" style="--v:{}"></b>)",
                       property(view.tasks[task].chance));
      fmt::format_to(append, R"(</span><span class="number">{}</span></li>)", percent(value(i)));
    }
    out += "</ol></figure>";
  }
  out += "</div>";
  if (view.tasks.size() < 3) // a radar needs three spokes to be a shape
    return out + "</section>";
  std::vector<std::string> spokes;
  std::vector<double> best;
  for (size_t task = 0; task < view.tasks.size(); ++task) {
    spokes.push_back(taskWord(view.tasks[task].name));
    best.push_back(view.bestOnTask(task));
  }
  out +=
      R"(<div class="task"><h3>Profiles</h3><p class="soft">The dashed shape is the best of all architectures on each task.</p>)"
      R"(<div class="grid-of radars">)";
  for (size_t i : view.ranking) {
    std::vector<double> values;
    for (size_t task = 0; task < view.tasks.size(); ++task)
      values.push_back(view.scored(view.onTask(i, task)));
    fmt::format_to(append, R"(<figure data-series="{}"><figcaption>{}</figcaption>{}</figure>)", i,
                   who(view, i),
                   drawRadar({shortLabel(view, i), i, spokes, values,
                              view.count() > 1 ? best : std::vector<double>{}}));
  }
  return out + "</div></div></section>";
}

} // namespace hybrid::rt::lab::report
