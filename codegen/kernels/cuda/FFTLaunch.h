//===- FFTLaunch.h - sizes of transforms in shared memory -------------------===//
#pragma once
#include <cstdint>

namespace hybrid::cuda {

/// Radices of the first and the last stage; all others have 16.
struct FFTRadices {
  int first, last;
};
/// `wide`: 32 where that saves a stage. It takes twice the registers.
constexpr FFTRadices fftRadices(int64_t points, bool wide) {
  if (wide && points == 1024)
    return {32, 32};
  if (wide && (points == 512 || points == 8192))
    return {32, 16};
  while (points > 16)
    points /= 16;
  return {static_cast<int>(points), 16};
}
/// Whether a place is left free behind the points of every thread of the last stage: then threads
/// of few lanes do not meet in the same banks.
constexpr bool fftIsPadded(int64_t lanes) { return lanes < 16; }
/// Complex elements in shared memory.
constexpr int64_t fftElements(int64_t points, int64_t lanes) {
  return (points + (fftIsPadded(lanes) ? points / 16 : 0)) * lanes;
}

} // namespace hybrid::cuda
