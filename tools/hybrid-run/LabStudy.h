//===- LabStudy.h - a study from the command line to its database ------------------===//
#pragma once
#include "laboratory/Protocol.h"
#include "tools/hybrid-run/LabModels.h"

namespace hybrid::tools {

/// The study that the options describe: architectures with their costs, and every run, pending.
rt::lab::Study planStudy(const rt::lab::Protocol &protocol, const std::vector<std::string> &paths,
                         const std::vector<std::string> &settings, LabModels &models);

/// Fails, saying what differs, when the database's study is not the one asked for.
void requireSameStudy(const rt::lab::Study &stored, const rt::lab::Study &wanted,
                      const std::string &path);

/// Of several processes that began with one command: the one that plans and shows. The others only
/// work. By what MPI and SLURM say in the environment; alone: 0.
int rankOfProcess();

} // namespace hybrid::tools
