//===- CurveSection.cpp - how the best runs learned ------------------------------===//
#include "laboratory/report/Charts.h"
#include "laboratory/report/Sections.h"
#include "laboratory/report/Text.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace hybrid::rt::lab::report {
namespace {

constexpr size_t mostPoints = 100; // of a curve: more than a chart is wide has no use

const Run *bestRun(const StudyView &view, size_t architecture, const Setting &setting) {
  const SettingScore *score = setting.scores[architecture];
  const Run *run = score ? view.run(score->bestRun) : nullptr;
  return run && !run->curve.empty() ? run : nullptr;
}

std::string drawCurves(const StudyView &view, const Setting &setting, bool loss) {
  LineChart chart;
  chart.xLabel = "step";
  chart.yLabel = loss ? "loss, nats" : "accuracy, %";
  chart.share = !loss;
  chart.descends = loss;
  chart.width = 460;
  chart.height = 260;
  chart.label = fmt::format("{}, {}: {} of evaluations against steps.", taskTitle(setting.task),
                            setting.title(), loss ? "loss" : "accuracy");
  for (auto i = view.ranking.rbegin(); i != view.ranking.rend(); ++i) {
    const Run *run = bestRun(view, *i, setting);
    if (!run)
      continue;
    std::string title =
        fmt::format("{}\nbest at step {}: {} {}\nlearning rate {}, weight decay {}", view.name(*i),
                    grouped(run->bestStep), loss ? "loss" : "accuracy",
                    loss ? fixed(run->loss, 3)
                         : percent(view.byMacro ? run->madAccuracy : run->accuracy) + " %",
                    plain(run->learningRate), plain(run->weightDecay));
    Series series{*i, title, {}};
    for (const CurvePoint &point : run->curve)
      series.points.push_back({static_cast<double>(point.step),
                               loss           ? point.loss
                               : view.byMacro ? point.madAccuracy
                                              : point.accuracy,
                               "", point.step == run->bestStep});
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const Point &a, const Point &b) { return a.x < b.x; });
    series.points = thinned(series.points, mostPoints);
    chart.series.push_back(std::move(series));
  }
  if (!loss && setting.chance > 0) {
    double last = 0, first = INFINITY;
    for (const Series &series : chart.series) {
      first = std::min(first, series.points.front().x);
      last = std::max(last, series.points.back().x);
    }
    if (last > first)
      chart.reference = {{first, setting.chance, "guessing among the legal answers", false},
                         {last, setting.chance, "", false}};
  }
  return drawLines(chart);
}

} // namespace

std::string curveSection(const StudyView &view) {
  std::vector<std::pair<const Task *, size_t>> shown;
  for (const Task &task : view.tasks)
    for (size_t i : task.settings)
      for (size_t architecture = 0; architecture < view.count(); ++architecture)
        if (bestRun(view, architecture, view.settings[i])) {
          shown.emplace_back(&task, i);
          break;
        }
  if (shown.empty())
    return "";
  std::string out = R"(<section id="curves"><h2>Learning curves</h2>)"
                    "<p>Evaluations of the best run of each architecture on a setting, over all "
                    "test instances. The marker is the checkpoint that counts.</p>";
  auto append = std::back_inserter(out);
  out += R"(<div class="controls needs-script" hidden><label for="curve-choice">Setting</label>)"
         R"(<select id="curve-choice" data-shows="curve">)";
  const Task *group = nullptr;
  for (auto [task, i] : shown) {
    if (task != group)
      fmt::format_to(append, R"({}<optgroup label="{}">)", group ? "</optgroup>" : "",
                     escaped(taskTitle(task->name)));
    group = task;
    fmt::format_to(append, R"(<option value="curve-{}">{}: {}</option>)", i,
                   escaped(taskTitle(task->name)), escaped(view.settings[i].title()));
  }
  out += "</optgroup></select></div>";
  out += legend(view);
  for (auto [task, i] : shown) {
    const Setting &setting = view.settings[i];
    fmt::format_to(
        append,
        R"(<figure class="curve{}" id="curve-{}"><figcaption><strong>{}, {}</strong>)"
        R"(<small><code>{}</code></small></figcaption><div class="grid-of pair">{}{}</div></figure>)",
        setting.isBaseline() ? " baseline" : "", i, escaped(taskTitle(task->name)),
        escaped(setting.title()), escaped(setting.name), drawCurves(view, setting, false),
        drawCurves(view, setting, true));
  }
  return out + "</section>";
}

} // namespace hybrid::rt::lab::report
