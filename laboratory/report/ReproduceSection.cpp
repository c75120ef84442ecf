//===- ReproduceSection.cpp - where the numbers come from --------------------------===//
#include "laboratory/report/Sections.h"
#include "laboratory/report/Text.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace hybrid::rt::lab::report {
namespace {

constexpr size_t mostErrors = 50; // more of them tell nothing new

/// Failed runs by what they say, with one of them as an example.
std::string failures(const StudyView &view) {
  struct Failure {
    std::string text;
    int64_t count = 0;
    const Run *example = nullptr;
  };
  std::vector<Failure> failures;
  for (const Run &run : view.study.runs) {
    if (run.status != "failed")
      continue;
    std::string text = run.error.empty() ? "no message" : run.error;
    auto same = std::find_if(failures.begin(), failures.end(),
                             [&](const Failure &each) { return each.text == text; });
    if (same == failures.end())
      same = failures.insert(failures.end(), {text, 0, &run});
    ++same->count;
  }
  std::string out;
  for (size_t i = 0; i < std::min(failures.size(), mostErrors); ++i) {
    const Failure &each = failures[i];
    out += fmt::format("<li>{} {}: <code>{}</code><br><span class=\"soft\">{} {}, learning rate "
                       "{}, weight decay {}, seed {}</span></li>",
                       counted(each.count, "run"),
                       each.example->diverged ? "diverged and score as guessing does" : "failed",
                       escaped(each.text), escaped(each.example->architecture),
                       escaped(each.example->setting), plain(each.example->learningRate),
                       plain(each.example->weightDecay), each.example->seed);
  }
  if (failures.size() > mostErrors)
    out += fmt::format("<li>and {} other messages</li>", failures.size() - mostErrors);
  return out;
}

/// Two extremes of something that a fair comparison keeps alike.
void warnOfSpread(const StudyView &view, std::string_view what, double limit,
                  int64_t (*size)(const Architecture &), std::string &out) {
  const Architecture *least = nullptr, *most = nullptr;
  for (const Architecture &each : view.study.architectures) {
    if (size(each) <= 0)
      continue;
    if (!least || size(each) < size(*least))
      least = &each;
    if (!most || size(each) > size(*most))
      most = &each;
  }
  if (!least || static_cast<double>(size(*most)) <= limit * static_cast<double>(size(*least)))
    return;
  out += fmt::format("<li>The architectures are unlike in {}: {} has {}, {} has {}.</li>", what,
                     escaped(least->name), grouped(size(*least)), escaped(most->name),
                     grouped(size(*most)));
}

/// A best learning rate at the end of the grid may mean that a better one lies outside.
std::string warnOfEdges(const StudyView &view) {
  std::set<double> rates;
  for (const Run &run : view.study.runs)
    if (std::isfinite(run.learningRate))
      rates.insert(run.learningRate);
  if (rates.size() < 2)
    return "";
  std::string out;
  for (size_t i : view.ranking) {
    double low = 0, high = 0, scored = 0;
    for (const Setting &setting : view.settings) {
      const SettingScore *score = setting.scores[i];
      // Where everything is solved any rate will do.
      if (!score || !score->bestRun || score->accuracy > 0.995)
        continue;
      ++scored;
      low += score->learningRate == *rates.begin();
      high += score->learningRate == *rates.rbegin();
    }
    if (scored >= 3 && std::max(low, high) > 0.75 * scored)
      out += fmt::format("<li>{} did best at the {} learning rate of the grid in {:.0f} of {:.0f} "
                         "unsolved settings: a {} one may do better still.</li>",
                         escaped(view.name(i)), high >= low ? "largest" : "smallest",
                         std::max(low, high), scored, high >= low ? "larger" : "smaller");
  }
  return out;
}

std::string listSettings(const StudyView &view) {
  std::string out =
      R"(<details><summary>The settings of the suite</summary><div class="wide" role="region" tabindex="0" aria-label="Settings">)"
      R"(<table><thead><tr><th scope="col">Task</th><th scope="col">Setting</th><th scope="col">Specification</th><th scope="col" class="number">Guessing, %</th></tr></thead><tbody>)";
  for (const Task &task : view.tasks)
    for (size_t i : task.settings)
      fmt::format_to(
          std::back_inserter(out),
          R"(<tr><td>{}</td><td>{}</td><td class="text"><code>{}</code></td><td class="number">{}</td></tr>)",
          escaped(taskTitle(task.name)), escaped(view.settings[i].title()),
          escaped(view.settings[i].name),
          view.settings[i].chance > 0 ? percent(view.settings[i].chance) : "–");
  return out + "</tbody></table></div></details>";
}

} // namespace

std::string specSection(const StudyView &view) {
  if (view.count() == 0)
    return "";
  std::string out =
      R"(<section id="architectures"><h2>Architectures</h2><p>Each is a page of text: )"
      "everything that was trained is in it and in the settings beside it.</p>";
  auto append = std::back_inserter(out);
  for (size_t i : view.ranking) {
    const Architecture &each = view.study.architectures[i];
    std::string settings;
    for (const auto &[name, value] : each.settings)
      settings += fmt::format(" --set {}={}", name, value);
    fmt::format_to(append,
                   R"(<details class="spec"><summary>{} <small><code>{}{}</code></small></summary>)"
                   R"(<pre tabindex="0"><code>{}</code></pre></details>)",
                   who(view, i), escaped(each.path), escaped(settings), escaped(each.source));
  }
  return out + "</section>";
}

std::string reproduceSection(const StudyView &view) {
  const Study &study = view.study;
  std::string out =
      R"(<section id="reproduce"><h2>Do it again</h2><p>The same command with the same version gives the same )"
      R"(numbers; what it finds done it does not repeat.</p>)"
      R"(<pre class="command"><code id="command">)";
  out += escaped(study.command);
  out +=
      R"(</code></pre><button type="button" class="copy needs-script" data-copies="command" hidden>Copy</button>)"
      R"(<dl class="facts">)";
  auto fact = [&](std::string_view name, std::string_view value) {
    if (!value.empty())
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value));
  };
  fact("version", study.version);
  fact("convention", study.convention);
  fact("suite", study.suite);
  fact("seed of the study", fmt::format("{}", study.seed));
  fact(view.runSeeds.size() == 1 ? "seed of the runs" : "seeds of the runs", seedList(view, 20));
  for (const auto &[name, value] : study.options)
    fact(name, value);
  out += "</dl>";
  return out + listSettings(view) + "</section>";
}

std::string seedList(const StudyView &view, size_t most) {
  std::string list;
  size_t named = 0;
  for (uint64_t seed : view.runSeeds) {
    if (named++ == most)
      return list + fmt::format(" and {} others", view.runSeeds.size() - most);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", seed);
  }
  return list;
}

std::string problemSection(const StudyView &view) {
  std::string out;
  StudyView::Counts counts = view.counts();
  if (counts.open() > 0)
    out += fmt::format("<li>{} of {} not done yet: scores so far are means over what is there, and "
                       "not comparable between architectures.</li>",
                       grouped(counts.open()), counted(counts.runs, "run"));
  int64_t without = 0, all = 0;
  for (const Setting &setting : view.settings)
    for (const SettingScore *score : setting.scores)
      if (score) {
        ++all;
        without += score->bestRun == 0;
      }
  if (without > 0 && counts.done > 0)
    out += fmt::format("<li>{} of {} settings have no score and are left out of the means.</li>",
                       without, all);
  out += failures(view);
  warnOfSpread(view, "parameters", 1.25, [](const Architecture &a) { return a.parameters; }, out);
  warnOfSpread(
      view, "state as MAD counts it", 1.5,
      [](const Architecture &a) { return a.countedState ? a.countedState->total() : 0; }, out);
  for (const Architecture &each : view.study.architectures)
    if (!each.countedState)
      out += fmt::format("<li>The compiler cannot tell the state of {}.</li>", escaped(each.name));
  out += warnOfEdges(view);
  if (out.empty())
    return "";
  return R"(<section id="problems"><h2>Failures and warnings</h2><ul class="warnings">)" + out +
         "</ul></section>";
}

std::string noteSection(const StudyView &view) {
  if (view.tasks.empty())
    return "";
  std::string out = R"(<section id="notes"><h2>How to read it</h2><ul class="warnings">)";
  out += "<li>Published MAD scores are macro accuracies: a mean over classes within each batch of "
         "128, where one stray prediction of a token that is never an answer adds a class with "
         "accuracy 0. Compare them with the macro columns of a study under the mad-lab convention, "
         "and with nothing else.</li>"
         "<li>Published repetitions of one architecture differ by several points on a task; a "
         "distance of less than about 3 points of the mean says little unless seeds are "
         "repeated.</li>";
  out +=
      view.byMacro
          ? "<li>The test instances choose the checkpoint and the point of the grid, as in the "
            "released code of MAD; scores are a little too good for it, for every architecture "
            "alike.</li>"
          : "<li>The weights at the end of training count. The test instances choose the point of "
            "the grid, and when a solved run may end; scores are a little too good for it, for "
            "every architecture alike.</li>";
  for (const Task &task : view.tasks)
    if (task.name == "memorization") {
      out += "<li>Memorization cannot reach 100 %: facts that training never shows can only be "
             "guessed, and the share of those grows with the vocabulary.</li>";
      break;
    }
  return out + "</ul></section>";
}

} // namespace hybrid::rt::lab::report
