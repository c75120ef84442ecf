//===- PreparedProgram.h - a program on a device, ready to be issued ---------===//
#pragma once
#include "runtime/cuda/Plan.h"
#include "runtime/cuda/Staging.h"
#include <optional>

namespace hybrid::rt::cuda {

struct PreparedProgram {
  PreparedProgram(const fb::Program &source, PlanParts parts);

  /// Makes the plan when it is first needed: then spaces are there.
  Result<void> ensurePlan();

  const fb::Program *source;
  PlanParts parts;
  Staging staging;
  std::optional<Plan> plan;
  const bool changesState; // parameters and their like
  size_t lastInputs = 0;   // the set of its last run
  struct Outputs {
    size_t set = 0, steps = 1;
  };
  std::optional<Outputs> lastOutputs; // of the last run that has been waited for
};

} // namespace hybrid::rt::cuda
