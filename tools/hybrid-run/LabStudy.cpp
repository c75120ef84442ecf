//===- LabStudy.cpp - a study from the command line to its database ----------------===//
#include "tools/hybrid-run/LabStudy.h"
#include "tools/hybrid-run/Process.h"
#include <cstdlib>
#include <fmt/format.h>

namespace hybrid::tools {
namespace lab = rt::lab;

lab::Study planStudy(const lab::Protocol &protocol, const std::vector<std::string> &paths,
                     const std::vector<std::string> &settings, LabModels &models) {
  std::vector<lab::Setting> suite = valueOf(protocol.settings());
  lab::Study study;
  study.convention = rt::nameOf(protocol.convention);
  study.suite = protocol.suite;
  study.version = "hybrid-run " HYBRID_VERSION ", " + compilerVersion(findCompiler());
  study.command = commandLine();
  study.seed = protocol.seed;
  study.options = protocol.options();
  study.protocol = protocol.toJson().dump();
  for (const std::string &path : paths)
    study.architectures.push_back(models.add(path, settings, suite));
  // A setting's whole grid before the next setting: it can train together.
  for (const lab::Setting &setting : suite)
    for (lab::Architecture &architecture : study.architectures) {
      LabModels::Cost cost = models.cost(architecture.name, setting);
      if (&setting == &suite.front()) {
        architecture.parameters = cost.parameters;
        architecture.flopsPerToken = cost.flopsPerToken;
        architecture.stateElements = cost.stateElements;
      }
      for (double rate : protocol.learningRates)
        for (double decay : protocol.weightDecays)
          for (int64_t seed = 0; seed < protocol.seeds; ++seed) {
            lab::Run run = protocol.plannedRun(setting, rate, decay,
                                               protocol.seed + static_cast<uint64_t>(seed));
            run.architecture = architecture.name;
            run.parameters = cost.parameters;
            run.flopsPerToken = cost.flopsPerToken;
            run.stateElements = cost.stateElements;
            study.runs.push_back(std::move(run));
          }
    }
  return study;
}

void requireSameStudy(const lab::Study &stored, const lab::Study &wanted, const std::string &path) {
  auto differ = [&](const std::string &what) {
    throw Failure(fmt::format("'{}' holds another study: {}. Give another --out, or the options of "
                              "the first time: {}",
                              path, what, stored.command));
  };
  for (size_t i = 0; i < std::min(stored.options.size(), wanted.options.size()); ++i)
    if (stored.options[i] != wanted.options[i])
      differ(fmt::format("its {} is {}, not {}", stored.options[i].first, stored.options[i].second,
                         wanted.options[i].second));
  if (stored.protocol != wanted.protocol)
    differ("its protocol is not the same");
  if (stored.architectures.size() != wanted.architectures.size())
    differ(fmt::format("it has {} architectures, not {}", stored.architectures.size(),
                       wanted.architectures.size()));
  for (size_t i = 0; i < stored.architectures.size(); ++i) {
    const lab::Architecture &there = stored.architectures[i], &here = wanted.architectures[i];
    if (there.name != here.name)
      differ(fmt::format("its architecture {} is {}, not {}", i + 1, there.name, here.name));
    if (there.settings != here.settings)
      differ(fmt::format("{} has other settings (--set)", here.name));
    if (there.source != here.source)
      differ(fmt::format("the text of {} was another", here.name));
  }
}

int rankOfProcess() {
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char *value = std::getenv(name); value && *value)
      return std::atoi(value);
  int rank = 0;
  if (const char *value = std::getenv("SLURM_PROCID"); value && *value)
    rank = std::atoi(value);
  // Of an array the first task shows.
  const char *task = std::getenv("SLURM_ARRAY_TASK_ID"),
             *first = std::getenv("SLURM_ARRAY_TASK_MIN");
  if (task && *task)
    rank += std::atoi(task) - (first && *first ? std::atoi(first) : 0);
  return rank;
}

} // namespace hybrid::tools
