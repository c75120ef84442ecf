//===- Models.h - architectures as the laboratory compiles them ----------------===//
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
#include <functional>
#include <map>
#include <set>

namespace hybrid::rt::lab {

/// "NAME=VALUE" in two; the error says what it was to be.
Result<std::pair<std::string, std::string>> splitSetting(const std::string &setting);
/// Whether the laboratory sets a model's parameter, so that nobody else may.
bool isLaboratorys(const std::string &parameter);

/// Fails when the text of a study's architecture is not what its file holds now.
Result<void> requireSameSource(const Architecture &architecture, const std::string &source);

/// A model file with what is set of it, and the name that a study has for it.
struct ModelChoice {
  std::string path, name;
  std::vector<std::string> settings; // NAME=VALUE
};

/// What a user asks for: "PATH" or "PATH:NAME=VALUE,...", each in every combination of the `grids`
/// "NAME=VALUE,VALUE,...". A model is called as its file, behind which stands what of its settings
/// is its own or a grid's; `settings` of all models are in no name.
Result<std::vector<ModelChoice>> chooseModels(const std::vector<std::string> &wanted,
                                              const std::vector<std::string> &settings,
                                              const std::vector<std::string> &grids);

class Models {
public:
  /// Fails where hybridc is not beside this program.
  static Result<Models> create(std::string precision, std::string device);

  /// Reads a model file. Fails when the file cannot be read, has faults, or lacks a parameter that
  /// one of the settings needs.
  Result<Architecture> add(const ModelChoice &choice, const std::vector<Setting> &needed);
  /// One that a study holds; fails when its file has changed since.
  Result<void> add(const Architecture &architecture);

  /// As the compiler counts it, for one sequence; an error is all that the compiler says.
  Result<PointCost> cost(const std::string &architecture, const Setting &setting);
  /// The costs of every architecture with every setting, counted by as many compilers at a time as
  /// there are cores; cost() then has them. `counted` hears how many of how many are there.
  Result<void> countCosts(const std::vector<std::string> &architectures,
                          const std::vector<Setting> &settings,
                          const std::function<void(size_t, size_t)> &counted);

  /// Compiles, or takes from the cache.
  Result<std::shared_ptr<const Executable>> load(const ModelRequest &request);

private:
  Models(std::string precision, std::string device, std::string compiler)
      : precision(std::move(precision)), device(std::move(device)), compiler(std::move(compiler)) {}
  struct Model {
    std::string path;
    std::vector<std::string> settings;
    std::set<std::string> parameters;
  };
  Result<Model> inspect(const std::string &path) const;
  std::vector<std::string> settingsFor(const Model &model, const Setting &setting) const;
  std::vector<std::string> costArguments(const Model &model, const Setting &setting) const;
  Result<PointCost> count(const std::vector<std::string> &arguments) const;

  std::string precision, device, compiler;
  std::map<std::string, Model> models;
  std::map<std::vector<std::string>, PointCost> costs; // by the words that asked for them
};

} // namespace hybrid::rt::lab
