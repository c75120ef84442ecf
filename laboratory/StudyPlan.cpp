//===- StudyPlan.cpp - the study that a protocol and architectures are --------------===//
#include "laboratory/StudyPlan.h"
#include "runtime/files/Json.h"
#include "training/compile/ModelSpec.h"
#include "training/compile/Process.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::lab {

namespace {

template <typename Value> void join(std::vector<Value> &list, const std::vector<Value> &more) {
  for (const Value &each : more)
    if (std::find(list.begin(), list.end(), each) == list.end())
      list.push_back(each);
}

Error otherStudy(const Study &stored, const std::string &path, const std::string &what) {
  return {fmt::format("'{}' holds another study: {}. Give another --out, or the options of the "
                      "first time: {}",
                      path, what, stored.command)};
}

} // namespace

Result<Study> planArchitectures(const Protocol &protocol, const std::vector<ModelChoice> &choices,
                                const std::string &version, Models &models) {
  auto suite = protocol.settings();
  if (!suite)
    return suite.error();
  Study study;
  study.convention = nameOf(protocol.convention);
  study.suite = protocol.suite;
  study.version = version + ", " + compilerVersion(findCompiler());
  study.command = commandLine();
  study.seed = protocol.seed;
  study.options = protocol.options();
  study.protocol = protocol.toJson().dump();
  std::vector<std::string> names;
  for (const ModelChoice &choice : choices) {
    auto added = models.add(choice, *suite);
    if (!added)
      return added.error();
    names.push_back(added->name);
    study.architectures.push_back(std::move(*added));
  }
  if (auto done = models.countCosts(names, {suite->front()}, [](size_t, size_t) {}); !done)
    return done.error();
  for (Architecture &architecture : study.architectures) {
    auto cost = models.cost(architecture.name, suite->front());
    if (!cost)
      return cost.error();
    architecture.parameters = cost->parameters;
    architecture.flopsPerToken = cost->flopsPerToken;
    architecture.state = cost->state;
    architecture.countedState = cost->countedState;
  }
  return study;
}

Result<std::vector<Run>> planSetting(const std::string &architecture, const Setting &setting,
                                     const Protocol &protocol, Models &models) {
  auto cost = models.cost(architecture, setting);
  if (!cost)
    return cost.error();
  std::vector<Run> runs;
  for (double rate : protocol.learningRates)
    for (double decay : protocol.weightDecays)
      for (int64_t seed = 0; seed < protocol.seeds; ++seed) {
        Run run =
            protocol.plannedRun(setting, rate, decay, protocol.seed + static_cast<uint64_t>(seed));
        run.architecture = architecture;
        run.parameters = cost->parameters;
        run.flopsPerToken = cost->flopsPerToken;
        run.stateElements = cost->stateElements();
        runs.push_back(std::move(run));
      }
  return runs;
}

Result<void> planRuns(Study &study, const Protocol &protocol, Models &models,
                      const std::function<void(size_t, size_t)> &counted) {
  auto suite = protocol.settings();
  if (!suite)
    return suite.error();
  std::vector<std::string> names;
  for (const Architecture &architecture : study.architectures)
    names.push_back(architecture.name);
  if (auto done = models.countCosts(names, *suite, counted); !done)
    return done;
  // A setting's whole grid before the next setting: it can train together.
  for (const Setting &setting : *suite)
    for (const std::string &name : names) {
      auto runs = planSetting(name, setting, protocol, models);
      if (!runs)
        return runs.error();
      std::move(runs->begin(), runs->end(), std::back_inserter(study.runs));
    }
  return {};
}

Result<Protocol> grownProtocol(const Study &stored, const Protocol &wanted,
                               const std::string &path) {
  auto json = parseJson(stored.protocol, path);
  if (!json)
    return json.error();
  auto before = Protocol::fromJson(*json);
  if (!before)
    return before.error();
  Protocol grown = wanted;
  grown.tasks = before->tasks;
  grown.learningRates = before->learningRates;
  grown.weightDecays = before->weightDecays;
  grown.seeds = before->seeds;
  const auto first = before->options(), second = grown.options();
  for (size_t i = 0; i < first.size(); ++i)
    if (first[i] != second[i])
      return otherStudy(
          stored, path,
          fmt::format("its {} is {}, not {}", first[i].first, first[i].second, second[i].second));
  if (grown.toJson() != before->toJson())
    return otherStudy(stored, path, "its protocol is not the same");
  auto named = [](const std::vector<std::string> &tasks) {
    return tasks.empty() ? madTasks() : tasks;
  };
  if (grown.tasks != wanted.tasks) {
    grown.tasks = named(grown.tasks);
    join(grown.tasks, named(wanted.tasks));
    if (grown.tasks == madTasks())
      grown.tasks.clear();
  }
  join(grown.learningRates, wanted.learningRates);
  join(grown.weightDecays, wanted.weightDecays);
  grown.seeds = std::max(grown.seeds, wanted.seeds);
  return grown;
}

std::vector<ModelChoice> grownChoices(const Study &stored, const std::vector<ModelChoice> &wanted) {
  std::vector<ModelChoice> choices;
  for (const Architecture &each : stored.architectures) {
    // As it was stored, unless it is asked for again: what differs then is told.
    auto again = std::find_if(wanted.begin(), wanted.end(),
                              [&](const ModelChoice &choice) { return choice.name == each.name; });
    ModelChoice choice{each.path, each.name, {}};
    for (const auto &[name, value] : each.settings)
      choice.settings.push_back(name + "=" + value);
    choices.push_back(again == wanted.end() ? choice : *again);
  }
  for (const ModelChoice &choice : wanted)
    if (std::none_of(choices.begin(), choices.end(),
                     [&](const ModelChoice &each) { return each.name == choice.name; }))
      choices.push_back(choice);
  return choices;
}

Result<void> requireSameArchitectures(const Study &stored, const Study &wanted,
                                      const std::string &path) {
  for (size_t i = 0; i < stored.architectures.size(); ++i) {
    const Architecture &there = stored.architectures[i], &here = wanted.architectures[i];
    if (there.settings != here.settings)
      return otherStudy(stored, path, fmt::format("{} has other settings (--set)", here.name));
    if (there.source != here.source)
      return otherStudy(stored, path, fmt::format("the text of {} was another", here.name));
  }
  return {};
}

} // namespace hybrid::rt::lab
