//===- Instance.h - one instance of a task while it is drawn -----------------===//
#pragma once
#include "training/Rng.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

struct Instance {
  uint64_t seed; // of the whole data set
  Split split;
  Rng rng; // of this instance alone
  std::span<int32_t> inputs, targets;
};

/// Uniform in first .. first + count - 1.
inline int32_t drawToken(Rng &rng, int64_t first, int64_t count) {
  return static_cast<int32_t>(first +
                              static_cast<int64_t>(rng.below(static_cast<uint64_t>(count))));
}

} // namespace hybrid::rt
