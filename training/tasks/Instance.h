//===- Instance.h - one instance of a task while it is drawn -----------------===//
#pragma once
#include "training/Rng.h"
#include "training/tasks/Task.h"
#include <numeric>

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

/// `count` distinct ids of first .. first + from - 1, every choice and order equally likely.
inline std::vector<int32_t> drawDistinct(Rng &rng, int64_t first, int64_t from, int64_t count) {
  std::vector<int32_t> ids(static_cast<size_t>(from));
  std::iota(ids.begin(), ids.end(), static_cast<int32_t>(first));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    std::swap(ids[i], ids[i + rng.below(ids.size() - i)]);
  ids.resize(static_cast<size_t>(count));
  return ids;
}

} // namespace hybrid::rt
