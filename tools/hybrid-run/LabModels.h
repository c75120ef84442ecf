//===- LabModels.h - architectures as the laboratory compiles them ----------------===//
//
// For each setting the laboratory sets the model's parameters `vocab`, `l_max` where there is one
// (the longest sequence: what filters are made for), and for tasks that must be told from the last
// position `readout = compression_head` (std.heads). All else is the model's, or the user's --set.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include "laboratory/TrainRuns.h"
#include "laboratory/search/Points.h"
#include "tools/hybrid-run/ModelArgument.h"
#include <map>
#include <set>

namespace hybrid::tools {

class LabModels {
public:
  LabModels(std::string precision, std::string device);

  /// Reads a model file. `settings` are NAME=VALUE. Fails when the file cannot be read, has faults,
  /// or lacks a parameter that one of the settings needs.
  rt::lab::Architecture add(const std::string &path, const std::vector<std::string> &settings,
                            const std::vector<rt::lab::Setting> &needed);
  /// One that a study holds; fails when its file has changed since.
  void add(const rt::lab::Architecture &architecture);

  struct Cost {
    int64_t parameters = 0, stateElements = 0;
    double flopsPerToken = 0;
  };
  /// As the compiler counts it, for one sequence.
  Cost cost(const std::string &architecture, const rt::lab::Setting &setting);

  /// Compiles, or takes from the cache.
  rt::Result<std::shared_ptr<const rt::Executable>> load(const rt::lab::ModelRequest &request);

  /// The same with what else a search asks; an error is the first one of the compiler.
  rt::Result<rt::lab::PointCost> count(const std::string &architecture,
                                       const rt::lab::Setting &setting);

private:
  struct Model {
    std::string path;
    std::vector<std::string> settings;
    std::set<std::string> parameters;
  };
  Model inspect(const std::string &path) const;
  std::vector<std::string> settingsFor(const Model &model, const rt::lab::Setting &setting) const;

  std::string precision, device, compiler;
  std::map<std::string, Model> models;
  std::map<std::string, Cost> costs;
};

} // namespace hybrid::tools
