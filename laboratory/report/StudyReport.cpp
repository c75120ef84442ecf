//===- StudyReport.cpp - a study as a page -------------------------------------===//
#include "laboratory/report/Page.h"
#include "laboratory/report/Report.h"
#include "laboratory/report/Sections.h"
#include "laboratory/report/Text.h"
#include "runtime/files/AtomicFile.h"
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace hybrid::rt::lab {
namespace report {
namespace {

struct Verdict {
  std::string title, text; // plain text; HTML
};

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

Verdict verdictOf(const StudyView &view) {
  if (view.count() == 0)
    return {"Nothing was studied", "<p class=\"lede\">The study has no architectures.</p>"};
  size_t best = view.ranking.front();
  double first = view.scored(view.overall(best));
  if (!std::isfinite(first))
    return {"No score yet", "<p class=\"lede\">No run has come to its end.</p>"};
  std::string tasks = counted(static_cast<int64_t>(view.tasks.size()), "task");
  if (view.count() == 1)
    return {fmt::format("{} scores {} %", shortName(view.name(best)), percent(first)),
            fmt::format("<p class=\"lede\">Mean accuracy over {}.</p>", tasks)};
  size_t second = view.ranking[1];
  double next = view.scored(view.overall(second));
  Verdict verdict{fmt::format("{} leads with {} %", shortName(view.name(best)), percent(first)),
                  ""};
  if (!std::isfinite(next)) {
    verdict.text = fmt::format(
        "<p class=\"lede\">Mean accuracy over {}; the others have no score yet.</p>", tasks);
    return verdict;
  }
  size_t last = best;
  for (size_t i : view.ranking)
    if (std::isfinite(view.scored(view.overall(i))))
      last = i;
  double ahead = first - next;
  std::string text = fmt::format("Over {}, it is {} points ahead of {}", tasks, percent(ahead),
                                 escaped(shortName(view.name(second))));
  if (ahead < 0.0005)
    text = fmt::format("Over {}, {} scores the same", tasks, escaped(shortName(view.name(second))));
  if (last != second)
    text += fmt::format("; the last, {}, has {} %", escaped(shortName(view.name(last))),
                        percent(view.scored(view.overall(last))));
  text += ".";
  if (ahead < 0.03)
    text +=
        view.seeds > 1
            ? fmt::format(
                  " So small a distance is to be weighed against the scatter between its {} seeds.",
                  view.seeds)
            : " With one seed a distance below 3 points says little.";
  verdict.text = "<p class=\"lede\">" + text + "</p>";
  return verdict;
}

std::string facts(const StudyView &view) {
  StudyView::Counts counts = view.counts();
  std::string out = "<dl class=\"facts\">";
  auto fact = [&](std::string_view name, const std::string &value) {
    if (!value.empty())
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, value);
  };
  fact("convention", escaped(view.study.convention));
  fact("suite", escaped(view.study.suite));
  fact("architectures", grouped(static_cast<int64_t>(view.count())));
  fact("settings", grouped(static_cast<int64_t>(view.settings.size())));
  std::string runs = grouped(counts.done) + " done";
  if (counts.diverged)
    runs += fmt::format(", {} diverged", grouped(counts.diverged));
  if (counts.failed)
    runs += fmt::format(", {} failed", grouped(counts.failed));
  if (counts.open())
    runs += fmt::format(", {} to do", grouped(counts.open()));
  fact("runs", runs);
  fact(view.runSeeds.size() > 1 ? "seeds" : "seed", seedList(view, 4));
  double seconds = 0;
  for (const Run &run : view.study.runs)
    seconds += std::isfinite(run.seconds) ? run.seconds : 0;
  fact("time of all runs", timeElement(seconds));
  fact("version", escaped(view.study.version));
  return out + "</dl>";
}

std::string
navigation(std::initializer_list<std::pair<std::string_view, const std::string *>> parts) {
  std::string out = R"(<nav aria-label="Sections"><ul>)";
  for (auto [name, text] : parts) {
    size_t at = text->find("id=\"");
    size_t head = text->find("<h2>");
    if (text->empty() || at == std::string::npos || head == std::string::npos)
      continue;
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>",
                       text->substr(at + 4, text->find('"', at + 4) - at - 4), name);
  }
  return out + "</ul></nav>";
}

} // namespace
} // namespace report

std::string reportText(const Study &study, const Scoreboard &scores) {
  using namespace report;
  StudyView view(study, scores);
  Verdict verdict = verdictOf(view);
  std::string scoreTables = scoreSection(view), profiles = profileSection(view),
              difficulty = difficultySection(view), curves = curveSection(view),
              cost = costSection(view), choices = choiceSection(view), specs = specSection(view),
              reproduce = reproduceSection(view), problems = problemSection(view),
              notes = noteSection(view);
  std::string body =
      fmt::format("<header><p class=\"eyebrow\">MAD laboratory, {} suite</p><h1>{}</h1>{}{}",
                  escaped(study.suite), escaped(verdict.title), verdict.text, facts(view));
  StudyView::Counts counts = view.counts();
  if (counts.open() > 0 || counts.failed > 0)
    body += fmt::format(
        R"(<div class="notice" role="note"><p>{} <a href="#problems">Details</a></p></div>)",
        counts.open() > 0 ? "This study is not complete." : "Some runs failed.");
  body += navigation({{"Scores", &scoreTables},
                      {"Strengths", &profiles},
                      {"Difficulty", &difficulty},
                      {"Learning curves", &curves},
                      {"Cost", &cost},
                      {"Runs", &choices},
                      {"Architectures", &specs},
                      {"Do it again", &reproduce},
                      {"Warnings", &problems},
                      {"Notes", &notes}});
  body += "</header><main id=\"main\">";
  if (std::string bars = verdictBars(view); !bars.empty())
    body += R"(<section id="verdict" aria-label="Verdict">)" + bars + "</section>";
  for (const std::string *part : {&scoreTables, &profiles, &difficulty, &curves, &cost, &choices,
                                  &specs, &reproduce, &problems, &notes})
    body += *part;
  body +=
      fmt::format("</main><footer>Written by {}. Tasks and protocol: Poli et al. 2024, "
                  "<cite>Mechanistic Design and Scaling of Hybrid Architectures</cite>.</footer>",
                  study.version.empty() ? "Hybrid" : escaped(study.version));
  return page(verdict.title, body);
}

Result<void> writeReport(const Study &study, const Scoreboard &scores, const std::string &path) {
  return writeFileAtomically(path, reportText(study, scores));
}

} // namespace hybrid::rt::lab
