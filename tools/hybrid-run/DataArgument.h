//===- DataArgument.h - what a model is trained or scored on ----------------------===//
#pragma once
#include "tools/hybrid-run/ModelArgument.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/data/Source.h"
#include <memory>
#include <string>

namespace hybrid::tools {

/// --task SPEC or --data text:PATH with the options that go with them.
struct DataArgument {
  std::string task, data, convention = "paper";
  uint64_t dataSeed = rt::defaultDataSeed, trainExamples = 0;

  void addTo(CLI::App &verb, bool training);
  /// For a .hyb without --length: sets the model's length to what the data has. Checks the options.
  void chooseLength(ModelArgument &model) const;
  /// The source for a model compiled for `length` positions.
  std::unique_ptr<rt::Source> open(int64_t length, uint64_t seed) const;
};

rt::Convention conventionOf(const std::string &name);

} // namespace hybrid::tools
