//===- StudyPlan.cpp - the study that a protocol and architectures are --------------===//
#include "laboratory/StudyPlan.h"
#include "training/compile/ModelSpec.h"
#include "training/compile/Process.h"
#include <fmt/format.h>

namespace hybrid::rt::lab {

Result<Study> planStudy(const Protocol &protocol, const std::vector<std::string> &paths,
                        const std::vector<std::string> &settings, const std::string &version,
                        Models &models) {
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
  for (const std::string &path : paths)
    if (auto added = models.add(path, settings, *suite))
      study.architectures.push_back(std::move(*added));
    else
      return added.error();
  // A setting's whole grid before the next setting: it can train together.
  for (const Setting &setting : *suite)
    for (Architecture &architecture : study.architectures) {
      auto cost = models.cost(architecture.name, setting);
      if (!cost) {
        std::fputs(cost.error().message.c_str(), stderr);
        return Error{fmt::format("{} did not compile", architecture.path)};
      }
      if (&setting == &suite->front()) {
        architecture.parameters = cost->parameters;
        architecture.flopsPerToken = cost->flopsPerToken;
        architecture.state = cost->state;
        architecture.countedState = cost->countedState;
      }
      for (double rate : protocol.learningRates)
        for (double decay : protocol.weightDecays)
          for (int64_t seed = 0; seed < protocol.seeds; ++seed) {
            Run run = protocol.plannedRun(setting, rate, decay,
                                          protocol.seed + static_cast<uint64_t>(seed));
            run.architecture = architecture.name;
            run.parameters = cost->parameters;
            run.flopsPerToken = cost->flopsPerToken;
            run.stateElements = cost->stateElements();
            study.runs.push_back(std::move(run));
          }
    }
  return study;
}

Result<void> requireSameStudy(const Study &stored, const Study &wanted, const std::string &path) {
  auto differ = [&](const std::string &what) {
    return Error{fmt::format("'{}' holds another study: {}. Give another --out, or the options of "
                             "the first time: {}",
                             path, what, stored.command)};
  };
  for (size_t i = 0; i < std::min(stored.options.size(), wanted.options.size()); ++i)
    if (stored.options[i] != wanted.options[i])
      return differ(fmt::format("its {} is {}, not {}", stored.options[i].first,
                                stored.options[i].second, wanted.options[i].second));
  if (stored.protocol != wanted.protocol)
    return differ("its protocol is not the same");
  if (stored.architectures.size() != wanted.architectures.size())
    return differ(fmt::format("it has {} architectures, not {}", stored.architectures.size(),
                              wanted.architectures.size()));
  for (size_t i = 0; i < stored.architectures.size(); ++i) {
    const Architecture &there = stored.architectures[i], &here = wanted.architectures[i];
    if (there.name != here.name)
      return differ(fmt::format("its architecture {} is {}, not {}", i + 1, there.name, here.name));
    if (there.settings != here.settings)
      return differ(fmt::format("{} has other settings (--set)", here.name));
    if (there.source != here.source)
      return differ(fmt::format("the text of {} was another", here.name));
  }
  return {};
}

} // namespace hybrid::rt::lab
