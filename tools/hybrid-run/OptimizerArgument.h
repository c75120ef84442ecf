//===- OptimizerArgument.h - AdamW and its learning rate --------------------------===//
#pragma once
#include "tools/hybrid-run/Verbs.h"
#include "training/Schedule.h"
#include "training/StepRunner.h"
#include <string>

namespace hybrid::tools {

/// The optimizer's flags, the same in every verb that updates parameters. Defaults are those of a
/// training run.
struct OptimizerArgument {
  rt::Schedule schedule; // `total` is the verb's to fill in
  double weightDecay = 0.1, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8, clip = 0;

  void addTo(CLI::App &verb);
  /// Completes `schedule`. Throws Failure for values that contradict one another.
  void check();
  /// What the update with 0-based number `step` takes.
  rt::Hyper at(int64_t step) const;

private:
  std::string kind = "cosine";
};

} // namespace hybrid::tools
