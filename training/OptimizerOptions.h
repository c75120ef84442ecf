//===- OptimizerOptions.h - AdamW and its learning rate ---------------------------===//
#pragma once
#include "runtime/Optimizer.h"
#include "training/Schedule.h"
#include <string>
#include <vector>

namespace hybrid::rt {

struct OptimizerOptions {
  Schedule schedule; // `total` is filled in by who knows it
  double weightDecay = 0.1, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8;
  double clip = 0; // global gradient norm; 0: off
  // Those of --lr, --weight-decay, --beta1, --beta2 and --eps that were asked for.
  std::vector<std::string> given;

  /// What the update with number `step`, counted from 0, takes.
  Hyper at(int64_t step) const;
  /// Fails for values that contradict one another.
  Result<void> check() const;
  /// Fails for a rate that was given and that nothing in the model's update takes, as --beta1 where
  /// all parameters have optimizers of their own.
  Result<void> checkTaken(const Executable &executable) const;
  /// Fails for a schedule that does not fit in so many steps; 0: not known yet.
  Result<void> checkSteps(int64_t steps) const;
};

} // namespace hybrid::rt
