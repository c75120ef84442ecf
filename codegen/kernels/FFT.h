//===- FFT.h - contract of transforms in fast memory ------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

/// Complex points of a right-angle transform that convolves a real signal with a filter: a power of
/// two that holds two real points each, all length + taps - 1 of them.
constexpr int64_t convolutionPoints(int64_t length, int64_t taps) {
  int64_t points = 32;
  while (2 * points < length + taps - 1)
    points *= 2;
  return points;
}

//===-- On the CPU: the factors of all stages ----------------------------------===//

/// The table of transforms of up to so many points, a power of two >= 32.
struct FFTTableParams {
  int64_t points;
  HYBRID_FIELDS(points)
};
/// Elements of T.
constexpr int64_t fftTableElements(int64_t points) { return 5 * points; }

/// Buffers: table. One item.
struct FFTTable : KernelOf<FFTTableParams, "fft_table", 0> {
  HYBRID_ON_CPU(1)
};

//===-- On CUDA ----------------------------------------------------------------===//

/// A table of count factors e^(-2 pi i step q / period).
struct FFTTwiddleParams {
  int64_t count, step, period;
  HYBRID_FIELDS(count, step, period)
};

namespace cuda {
constexpr int64_t fftTwiddleThreads = 256;
} // namespace cuda

/// Buffers: table. An item is a block of factors, one a thread.
struct FFTTwiddles : KernelOf<FFTTwiddleParams, "fft_twiddles", 0> {
  HYBRID_ON_CUDA(ceilDiv(p.count, cuda::fftTwiddleThreads), cuda::fftTwiddleThreads)
};

namespace cuda {

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

} // namespace cuda

} // namespace hybrid
