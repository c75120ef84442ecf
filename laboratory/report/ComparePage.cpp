//===- ComparePage.cpp - two studies as a page --------------------------------------===//
#include "laboratory/report/Charts.h"
#include "laboratory/report/Compare.h"
#include "laboratory/report/Comparison.h"
#include "laboratory/report/Page.h"
#include "laboratory/report/StudyView.h"
#include "laboratory/report/Text.h"
#include "runtime/files/AtomicFile.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace hybrid::rt::lab {
using namespace report;
namespace {

std::string value(double number) {
  return std::isfinite(number) ? fmt::format("{:.6g}", number) : "";
}

std::string cells(const Both &both, bool first = true) {
  double change = both.difference();
  std::string_view direction = percent(std::fabs(change)) == "0.0" || !std::isfinite(change) ? ""
                               : change > 0 ? " change-up"
                                            : " change-down";
  return fmt::format(
      R"(<td class="number{}" data-value="{}">{}</td><td class="number" data-value="{}">{}</td>)"
      R"(<td class="number{}" data-value="{}">{}</td>)",
      first ? " first" : "", value(both.value[0]), percent(both.value[0]), value(both.value[1]),
      percent(both.value[1]), direction, value(change), points(change));
}

std::string head(size_t column, std::string_view text, std::string_view classes) {
  return fmt::format(
      R"(<th scope="col" class="{}" data-column="{}"><button type="button">{}</button></th>)",
      classes, column, text);
}

std::string scoreTable(const Comparison &comparison) {
  std::string out =
      R"(<div class="wide" role="region" tabindex="0" aria-label="Scores side by side"><table class="sortable scores sided"><thead><tr>)"
      R"(<th class="corner" rowspan="2" scope="col" data-column="0"><button type="button">Architecture</button></th>)"
      R"(<th colspan="3" scope="colgroup" class="group first">Overall</th>)";
  for (const std::string &task : comparison.tasks)
    out += fmt::format(R"(<th colspan="3" scope="colgroup" class="group first" title="{}">{}</th>)",
                       escaped(task), escaped(taskWord(task)));
  out += "</tr><tr>";
  size_t column = 1;
  for (size_t group = 0; group <= comparison.tasks.size(); ++group)
    for (std::string_view text : {"A", "B", "B−A"})
      out += head(column++, text, text == "A" ? "number first" : "number");
  out += "</tr></thead><tbody>";
  for (const ComparedArchitecture &row : comparison.architectures) {
    out += fmt::format(R"(<tr><th scope="row"><span class="name" title="{}">{}</span></th>)",
                       escaped(row.name), escaped(row.name));
    out += cells(row.overall);
    for (const Both &task : row.tasks)
      out += cells(task);
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string settingTable(const Comparison &comparison) {
  std::string out =
      R"(<div class="wide" role="region" tabindex="0" aria-label="Settings side by side"><table class="sortable"><thead><tr>)";
  size_t column = 0;
  out += head(column++, "Architecture", "corner");
  out += head(column++, "Task", "");
  out += head(column++, "Setting", "");
  for (const char *text : {"A", "B", "B−A"})
    out += head(column++, text, "number");
  out += "</tr></thead><tbody>";
  for (const ComparedSetting &each : comparison.settings)
    out += fmt::format(
        R"(<tr><th scope="row"><span class="name">{}</span></th><td>{}</td><td title="{}">{}</td>{}</tr>)",
        escaped(each.architecture), escaped(taskTitle(each.task)), escaped(each.setting),
        escaped(each.title), cells(each.score, false));
  return out + "</tbody></table></div>";
}

/// Where an architecture is in both: the second study's score as a bar, the first's as a mark.
std::string bars(const Comparison &comparison) {
  std::string out = R"(<ol class="bars" aria-label="Overall scores of both">)";
  auto share = [](double score) { return std::clamp(score, 0.0, 1.0); };
  size_t shown = 0;
  for (const ComparedArchitecture &row : comparison.architectures) {
    if (!std::isfinite(row.overall.value[0]) || !std::isfinite(row.overall.value[1]))
      continue;
    ++shown;
    fmt::format_to(
        std::back_inserter(out),
        R"(<li class="c0"><span class="name" title="{}">{}</span><span class="bar"><i style="--v:{:.3f}"></i><b style="--v:{:.3f}"></b></span><span class="number">{}</span></li>)",
        escaped(row.name), escaped(row.name), share(row.overall.value[1]),
        share(row.overall.value[0]), points(row.overall.difference()));
  }
  return shown
             ? out +
                   R"(</ol><p class="scale">Bar: B. <b></b>&nbsp;A. Number: by how many points B is above A.</p>)"
             : "";
}

std::string list(const std::vector<std::string> &sentences) {
  std::string out;
  for (const std::string &text : sentences)
    out += fmt::format("<li>{}</li>", escaped(text));
  return out;
}

} // namespace

std::string comparisonText(const Study &a, const Study &b, const std::string &first,
                           const std::string &second) {
  Comparison comparison = compare(a, b);
  int64_t shared = 0, up = 0, down = 0;
  for (const ComparedArchitecture &row : comparison.architectures)
    shared += row.settings > 0;
  for (const ComparedSetting &each : comparison.settings) {
    up += each.score.difference() >= 0.0005;
    down += each.score.difference() <= -0.0005;
  }
  std::string body =
      R"(<header><p class="eyebrow">MAD laboratory, two studies</p><h1>A and B side by side</h1>)";
  body += fmt::format("<p class=\"lede\">{} in both, over {} that both have done: B is better in "
                      "{}, worse in {}.</p>",
                      counted(shared, "architecture"),
                      counted(static_cast<int64_t>(comparison.settings.size()), "setting"),
                      grouped(up), grouped(down));
  if (!comparison.unlike.empty())
    body += "<div class=\"notice\" role=\"alert\"><p><strong>These studies are "
            "unlike.</strong></p><ul>" +
            list(comparison.unlike) + "</ul></div>";
  body += "<dl class=\"facts\">";
  for (int side : {0, 1}) {
    const Study &study = side ? b : a;
    body += fmt::format("<div><dt>{}</dt><dd>{}<br><span class=\"soft\">{} convention, {} suite, "
                        "{}</span></dd></div>",
                        side ? "B" : "A", escaped(side ? second : first), escaped(study.convention),
                        escaped(study.suite), escaped(study.version));
  }
  body += "</dl></header><main id=\"main\">";
  if (std::string text = bars(comparison); !text.empty())
    body += "<section id=\"verdict\" aria-label=\"Verdict\">" + text + "</section>";
  if (!comparison.architectures.empty() && !comparison.tasks.empty())
    body += fmt::format(
        "<section id=\"scores\"><h2>Scores</h2><p>{} in percent, mean over the settings that "
        "both have done; of an architecture that one study lacks, over what the other "
        "has.</p>{}</section>",
        comparison.measure == "micro accuracy" ? "Micro accuracy" : "Macro accuracy",
        scoreTable(comparison));
  if (!comparison.settings.empty())
    body += "<section id=\"settings\"><h2>Every setting</h2><p>The largest difference first.</p>" +
            settingTable(comparison) + "</section>";
  if (!comparison.differences.empty())
    body += "<section id=\"problems\"><h2>What else differs</h2><ul class=\"warnings\">" +
            list(comparison.differences) + "</ul></section>";
  body += "<section id=\"reproduce\"><h2>Where they come from</h2><p>The commands of both.</p>";
  body += fmt::format("<h3>A</h3><pre class=\"command\"><code>{}</code></pre><h3>B</h3><pre "
                      "class=\"command\"><code>{}</code></pre>",
                      escaped(a.command), escaped(b.command));
  body += "</section></main><footer>Differences of a few points between repetitions with other "
          "seeds are usual.</footer>";
  return page("A and B side by side", body);
}

Result<void> writeComparison(const Study &a, const Study &b, const std::string &path,
                             const std::string &first, const std::string &second) {
  return writeFileAtomically(path, comparisonText(a, b, first, second));
}

} // namespace hybrid::rt::lab
