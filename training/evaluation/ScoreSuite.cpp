//===- ScoreSuite.cpp - a language model on a suite of tasks ---------------------------===//
#include "training/evaluation/ScoreSuite.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/Signals.h"
#include "training/data/Documents.h"
#include "training/evaluation/SuiteFolder.h"
#include "training/evaluation/TextSuite.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

using nlohmann::json;

struct TaskScore {
  std::string name, kind;
  size_t examples = 0;
  std::vector<Figure> figures;
};

/// All that the scores depend on.
Result<json> identityOf(const SuiteOptions &options, const TextSuite &suite,
                        const LanguageModel &model) {
  uint64_t bytes = 0;
  auto checkpoint = hashOfFile(options.model.checkpoint, bytes);
  if (!checkpoint)
    return checkpoint.error();
  auto file = hashOfFile(options.model.model.path, bytes);
  if (!file)
    return file.error();
  json identity = suite.identity;
  identity["checkpoint"] = *checkpoint;
  identity["average"] = options.model.average;
  identity["model"] = *file;
  identity["settings"] = options.model.model.settings;
  identity["length"] = options.model.model.length.value_or(0);
  identity["context"] = options.model.context;
  identity["tokenizer"] = model.tokenizer().identity();
  return identity;
}

Result<TaskScore> scoreTask(const TextSuite::Entry &entry, TextScorer &scorer, SuiteFolder *folder,
                            const StopSignals &signals) {
  TaskScore score{entry.name, entry.kind, entry.task->examples(), {}};
  std::vector<std::vector<Share>> shares;
  for (size_t i = 0; i < score.examples; ++i) {
    if (const auto *known = folder ? folder->find(entry.name, i) : nullptr) {
      shares.push_back(*known);
      continue;
    }
    if (signals.received())
      return Error{fmt::format("{} came after {} of {} examples of task '{}'{}", signals.received(),
                               i, score.examples, entry.name,
                               folder ? ": the same command goes on from there" : "")};
    auto found = entry.task->score(scorer, i);
    if (!found)
      return Error{fmt::format("task '{}': {}", entry.name, found.error().message)};
    if (folder)
      if (auto kept = folder->keep(entry.name, i, *found); !kept)
        return kept.error();
    shares.push_back(std::move(*found));
  }
  score.figures = figuresOf(shares);
  entry.task->derive(score.figures);
  return score;
}

json describe(const TextSuite &suite, const std::vector<TaskScore> &scores) {
  json tasks = json::array();
  for (const TaskScore &score : scores) {
    json figures = json::object();
    for (const Figure &figure : score.figures)
      figures[figure.name] = {
          {"value", figure.value},
          {"standard_error", figure.standardError ? json(*figure.standardError) : json()},
          {"examples", figure.examples}};
    tasks.push_back({{"name", score.name},
                     {"kind", score.kind},
                     {"examples", score.examples},
                     {"figures", std::move(figures)}});
  }
  return {{"suite", suite.name}, {"tasks", std::move(tasks)}};
}

std::string textOf(const std::vector<TaskScore> &scores) {
  size_t task = 4, figure = 6;
  for (const TaskScore &score : scores) {
    task = std::max(task, score.name.size());
    for (const Figure &each : score.figures)
      figure = std::max(figure, each.name.size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  {:>12}  {:>12}  {:>8}\n", "task", task, "figure",
                                 figure, "value", "std. error", "examples");
  for (const TaskScore &score : scores)
    for (const Figure &each : score.figures)
      text += fmt::format("{:<{}}  {:<{}}  {:>12.6g}  {:>12}  {:>8}\n", score.name, task, each.name,
                          figure, each.value,
                          each.standardError ? fmt::format("{:.3g}", *each.standardError) : "-",
                          each.examples);
  return text;
}

} // namespace

Result<void> scoreSuite(const SuiteOptions &options) {
  auto model = LanguageModel::open(options.model);
  if (!model)
    return model.error();
  TextScorer scorer(*model);
  auto suite = readTextSuite(options.suite, options.dataFolder, scorer);
  if (!suite)
    return suite.error();
  std::optional<SuiteFolder> folder;
  if (!options.out.empty()) {
    auto identity = identityOf(options, *suite, *model);
    if (!identity)
      return identity.error();
    auto opened = SuiteFolder::open(options.out, *identity);
    if (!opened)
      return opened.error();
    folder.emplace(std::move(*opened));
  }
  const StopSignals signals;
  std::vector<TaskScore> scores;
  for (const TextSuite::Entry &entry : suite->tasks) {
    auto score = scoreTask(entry, scorer, folder ? &*folder : nullptr, signals);
    if (!score)
      return score.error();
    scores.push_back(std::move(*score));
  }
  const json results = describe(*suite, scores);
  if (folder)
    if (auto done = folder->finish(results); !done)
      return done;
  say("{}", options.json ? jsonText(results) + "\n" : textOf(scores));
  return {};
}

} // namespace hybrid::rt
