//===- RunSection.cpp - what architectures cost, and which runs count -------------===//
#include "laboratory/report/Charts.h"
#include "laboratory/report/Sections.h"
#include "laboratory/report/Text.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace hybrid::rt::lab::report {
namespace {

std::string numberCell(double value, const std::string &text, std::string_view more = "") {
  return fmt::format(R"(<td class="number{}" data-value="{}">{}</td>)", more,
                     std::isfinite(value) ? fmt::format("{:.9g}", value) : "", text);
}

std::string head(size_t column, std::string_view text, bool number, std::string_view more = "") {
  return fmt::format(
      R"(<th scope="col" class="{}{}" data-column="{}"><button type="button">{}</button></th>)",
      number ? "number" : "", more, column, text);
}

double secondsOf(const StudyView &view, size_t architecture) {
  double seconds = 0;
  for (const Run &run : view.study.runs)
    if (run.architecture == view.name(architecture) && std::isfinite(run.seconds))
      seconds += run.seconds;
  return seconds;
}

std::string drawCost(const StudyView &view, std::string_view what,
                     double (*cost)(const Architecture &)) {
  LineChart chart;
  chart.xLabel = what;
  chart.yLabel = "overall score, %";
  chart.xScale = Scale::Log;
  chart.lines = false;
  chart.width = 460;
  chart.height = 260;
  chart.label = fmt::format("Overall score against {}.", what);
  for (auto i = view.ranking.rbegin(); i != view.ranking.rend(); ++i) {
    double x = cost(view.study.architectures[*i]), y = view.scored(view.overall(*i));
    if (!std::isfinite(y) || !(x > 0))
      continue;
    std::string title = fmt::format("{}: {} %, {} {}", view.name(*i), percent(y), compact(x), what);
    chart.label += " " + title + ".";
    chart.series.push_back({*i, "", {{x, y, title, true}}});
  }
  if (chart.series.size() < 2)
    return "";
  return fmt::format(
      "<figure><figcaption>Score against <strong>{}</strong></figcaption>{}</figure>", what,
      drawLines(chart));
}

/// Every point of the grid that an architecture could have chosen, and how often it did.
std::string gridTable(const StudyView &view) {
  std::set<std::pair<double, double>> grid;
  for (const Run &run : view.study.runs)
    if (std::isfinite(run.learningRate) && std::isfinite(run.weightDecay))
      grid.insert({run.learningRate, run.weightDecay});
  if (grid.empty())
    return "";
  std::string out =
      R"(<div class="wide" role="region" tabindex="0" aria-label="Chosen learning rates and weight decays">)"
      R"(<table class="sortable"><caption>In how many settings a learning rate (lr) and weight decay (wd) were the best</caption><thead><tr>)";
  out += head(0, "Architecture", false, "corner");
  size_t column = 1;
  for (auto [rate, decay] : grid)
    out += head(column++, fmt::format("lr {}<br>wd {}", plain(rate), plain(decay)), true);
  out += "</tr></thead><tbody>";
  auto append = std::back_inserter(out);
  for (size_t i : view.ranking) {
    fmt::format_to(append, R"(<tr data-series="{}"><th scope="row">{}</th>)", i, who(view, i));
    int64_t scored = 0;
    for (const Setting &setting : view.settings)
      scored += setting.scores[i] && setting.scores[i]->bestRun;
    for (auto [rate, decay] : grid) {
      int64_t wins = 0;
      for (const Setting &setting : view.settings)
        if (const SettingScore *score = setting.scores[i]; score && score->bestRun)
          wins += score->learningRate == rate && score->weightDecay == decay;
      fmt::format_to(
          append, R"(<td class="number heat" style="--v:{:.3f}" data-value="{}">{}</td>)",
          scored ? static_cast<double>(wins) / static_cast<double>(scored) : 0.0, wins, wins);
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string settingRow(const StudyView &view, const Setting &setting, size_t architecture) {
  const SettingScore &score = *setting.scores[architecture];
  const Run *best = view.run(score.bestRun);
  Accuracies both =
      score.bestRun ? Accuracies{score.accuracy, score.madAccuracy} : Accuracies{NAN, NAN};
  double deviation = view.byMacro ? score.madDeviation : score.deviation;
  std::string row = fmt::format(
      R"(<tr data-series="{}"><th scope="row"><span class="name">{}</span></th><td>{}</td><td>{}</td>)",
      architecture, escaped(view.name(architecture)), escaped(taskWord(setting.task)),
      escaped(setting.title()));
  row += numberCell(both.micro, percent(both.micro)) + numberCell(both.macro, percent(both.macro));
  row += view.seeds > 1 ? numberCell(deviation, percent(deviation)) : "";
  double none = NAN;
  row += numberCell(best ? score.learningRate : none, best ? plain(score.learningRate) : "–");
  row += numberCell(best ? score.weightDecay : none, best ? plain(score.weightDecay) : "–");
  row += numberCell(best ? static_cast<double>(best->bestStep) : none,
                    best ? grouped(best->bestStep) : "–");
  row += numberCell(static_cast<double>(score.done),
                    score.complete() && score.done == score.runs
                        ? fmt::format("{}", score.done)
                        : fmt::format("{} of {}", score.done, score.runs));
  row +=
      fmt::format(R"(<td class="number">{}</td></tr>)", timeElement(best ? best->seconds : none));
  return row;
}

} // namespace

std::string costSection(const StudyView &view) {
  if (view.count() == 0)
    return "";
  std::string out =
      R"(<section id="cost"><h2>What it costs</h2>)"
      "<p>Parameters, FLOPs of a token forward and elements of state as they are at the first "
      "setting of the study. State counts what a sequence leaves behind for its next token: the "
      "fixed part, and what grows, at the length of the task; beside it the state that MAD counts, "
      "which gives a free-form filter that of its order.</p>"
      R"(<div class="wide" role="region" tabindex="0" aria-label="Table of costs"><table class="sortable"><thead><tr>)";
  out += head(0, "Architecture", false, "corner") + head(1, "Score, %", true) +
         head(2, "Parameters", true) + head(3, "FLOPs a token", true) + head(4, "State", true) +
         head(5, "As MAD counts", true) + R"(<th scope="col" class="number">Time of all runs</th>)";
  out += "</tr></thead><tbody>";
  for (size_t i : view.ranking) {
    const Architecture &each = view.study.architectures[i];
    double score = view.scored(view.overall(i));
    out += fmt::format(R"(<tr data-series="{}"><th scope="row">{}</th>)", i, who(view, i));
    out += numberCell(score, percent(score));
    out += numberCell(static_cast<double>(each.parameters), grouped(each.parameters));
    out += numberCell(each.flopsPerToken, compact(each.flopsPerToken));
    for (const auto &state : {each.state, each.countedState})
      out += numberCell(state ? static_cast<double>(state->total()) : NAN,
                        state ? grouped(state->total()) : "unknown");
    out += fmt::format(R"(<td class="number">{}</td></tr>)", timeElement(secondsOf(view, i)));
  }
  out += "</tbody></table></div>";
  std::string charts =
      drawCost(view, "FLOPs a token", [](const Architecture &a) { return a.flopsPerToken; }) +
      drawCost(view, "state elements as MAD counts", [](const Architecture &a) {
        return a.countedState ? static_cast<double>(a.countedState->total()) : NAN;
      });
  if (!charts.empty())
    out += R"(<div class="task">)" + legend(view) + R"(<div class="grid-of pair">)" + charts +
           "</div></div>";
  return out + "</section>";
}

std::string choiceSection(const StudyView &view) {
  if (view.settings.empty() || view.count() == 0)
    return "";
  std::string out = R"(<section id="choices"><h2>Which runs count</h2>)"
                    "<p>Every setting is trained at every point of a grid of learning rate and "
                    "weight decay; the point with the best accuracy counts.</p>";
  out += gridTable(view);
  out +=
      R"(<details class="every"><summary>Every setting of every architecture</summary>)"
      R"(<div class="wide" role="region" tabindex="0" aria-label="Every setting"><table class="sortable"><thead><tr>)";
  size_t column = 0;
  out += head(column++, "Architecture", false, "corner");
  for (const char *text : {"Task", "Setting"})
    out += head(column++, text, false);
  for (const char *text : {"Micro", "Macro"})
    out += head(column++, text, true);
  if (view.seeds > 1)
    out += head(column++, "±", true);
  for (const char *text : {"Learning rate", "Weight decay", "Best step", "Runs"})
    out += head(column++, text, true);
  out += R"(<th scope="col" class="number">Time of the best</th></tr></thead><tbody>)";
  for (const Task &task : view.tasks)
    for (size_t i : task.settings)
      for (size_t architecture : view.ranking)
        if (view.settings[i].scores[architecture])
          out += settingRow(view, view.settings[i], architecture);
  return out + "</tbody></table></div></details></section>";
}

} // namespace hybrid::rt::lab::report
