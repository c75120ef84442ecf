//===- FFT.cpp - the factors of transforms ----------------------------------===//
#include "FFT.h"
#include "codegen/kernels/FFT.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void fft_table(int64_t, Buffers buffers, const FFTTableParams &params) {
  T *table = buffers.at<T>(0);
  int64_t n = params.points;
  // Factors e^(-2 pi i j (k - shift / 4) / size).
  auto fill = [&](T *rows, int64_t size, int64_t radix, int64_t first, int64_t shift) {
    for (int64_t j = 0; j < size / radix; ++j)
      for (int64_t k = first; k < radix; ++k) {
        // The fraction is exact in double.
        double angle = -6.283185307179586476925286766559 *
                       (static_cast<double>(j * (4 * k - shift)) / static_cast<double>(4 * size));
        *rows++ = static_cast<T>(__builtin_cos(angle));
        *rows++ = static_cast<T>(__builtin_sin(angle));
      }
  };
  for (int64_t i = 0; i < fftTableElements(n); ++i)
    table[i] = T(0);
  for (int64_t size = 32; size <= n; size *= 2)
    fill(table + 2 * size, size, stageRadix(size), 0, 1);
  for (int64_t size = 32; 4 * size <= n; size *= 2)
    fill(table + 4 * n + 2 * size, size, stageRadix(size), 1, 0);
}

} // namespace

HYBRID_KERNEL(fft_table, FFTTableParams)
