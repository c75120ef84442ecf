//===- FFTLaunch.h - sizes of transforms in shared memory -------------------===//
#pragma once
#include <cstdint>

namespace hybrid::cuda {

/// The first of the stages of a transform: what is left when all others have radix 16.
constexpr int fftFirstRadix(int points) {
  while (points > 16)
    points /= 16;
  return points;
}
/// Whether a place is left free behind every 16 points: then threads that take 16 consecutive
/// points of few lanes each do not meet in the same banks.
constexpr bool fftIsPadded(int64_t lanes) { return lanes < 16; }
/// Complex elements in shared memory.
constexpr int64_t fftElements(int64_t points, int64_t lanes) {
  return (points + (fftIsPadded(lanes) ? points / 16 : 0)) * lanes;
}

} // namespace hybrid::cuda
