//===- OptimizerOptions.cpp - AdamW and its learning rate -------------------------===//
#include "training/OptimizerOptions.h"
#include <fmt/format.h>

namespace hybrid::rt {

Result<void> OptimizerOptions::check() const {
  if (schedule.least > schedule.base)
    return Error{fmt::format("--min-lr {} is above --lr {}", schedule.least, schedule.base)};
  return {};
}

Hyper OptimizerOptions::at(int64_t step) const {
  return {schedule.at(step), weightDecay, beta1, beta2, epsilon, clip, step + 1};
}

} // namespace hybrid::rt
