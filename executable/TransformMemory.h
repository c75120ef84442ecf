//===- TransformMemory.h - what library transforms take besides their data --===//
#pragma once
#include <cstdint>

namespace hybrid {

/// Whether a number has no prime factor above 7: lengths for which cuFFT has its fastest kernels.
constexpr bool isSmooth(int64_t number) {
  for (int64_t prime : {2, 3, 5, 7})
    while (number > 0 && number % prime == 0)
      number /= prime;
  return number == 1;
}
/// The least such number that is even and not below `least`.
constexpr int64_t nextSmooth(int64_t least) {
  int64_t number = least + least % 2;
  while (!isSmooth(number))
    number += 2;
  return number;
}

/// Bytes of workspace of `signals` transforms of `points` real points: cuFFT's documentation says
/// as many complex numbers as there are points where they are smooth, and at worst 8 times that.
constexpr uint64_t transformWorkspace(int64_t points, int64_t signals, int64_t elementBytes) {
  return static_cast<uint64_t>(points) * static_cast<uint64_t>(signals) * 2 *
         static_cast<uint64_t>(elementBytes) * (isSmooth(points) ? 1 : 8);
}

} // namespace hybrid
