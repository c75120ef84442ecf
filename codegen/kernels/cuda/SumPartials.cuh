//===- SumPartials.cuh - sums of partial results in a fixed order -----------===//
#pragma once
#include "codegen/kernels/SumPartials.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Threads stand in a grid of partial rows by columns: each sums its rows, then neighbours add up.
template <typename T, SumPartialsParams P>
HYBRID_DEVICE void sumPartials(int64_t item, const T *partial, T *out) {
  constexpr int columns = static_cast<int>(lanes<T>),
                rows = static_cast<int>(sumPartialsThreads) / columns;
  T *sums = sharedMemory<T>();
  const int column = static_cast<int>(threadIdx.x) % columns,
            row = static_cast<int>(threadIdx.x) / columns;
  const int64_t at = item * columns + column;
  T sum = 0;
  if (at < P.columns)
    for (int64_t i = row; i < P.count; i += rows)
      sum += partial[i * P.stride + at];
  sums[threadIdx.x] = sum;
  HYBRID_UNROLL
  for (int half = rows / 2; half > 0; half /= 2) {
    blockBarrier();
    if (row < half)
      sums[threadIdx.x] += sums[threadIdx.x + half * columns];
  }
  if (row == 0 && at < P.columns)
    out[at] = sums[column];
}

} // namespace hybrid::cuda
