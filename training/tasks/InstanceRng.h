//===- InstanceRng.h - the random numbers of one instance -------------------===//
#pragma once
#include "training/Rng.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// One stream a split: train and test never share numbers, whatever the indices.
inline Rng instanceRng(uint64_t seed, Split split, uint64_t index) {
  return {seed, split == Split::Train ? 0x7261696eu : 0x74657374u, index};
}

/// Uniform in first .. first + count - 1.
inline int32_t drawToken(Rng &rng, int64_t first, int64_t count) {
  return static_cast<int32_t>(first +
                              static_cast<int64_t>(rng.below(static_cast<uint64_t>(count))));
}

} // namespace hybrid::rt
