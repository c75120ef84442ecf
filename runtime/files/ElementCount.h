//===- ElementCount.h - how many elements a shape has -------------------------===//
#pragma once
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>

namespace hybrid::rt {

inline int64_t elementCount(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

} // namespace hybrid::rt
