//===- SumPartials.cuh - sums of partial results in a fixed order -----------===//
#pragma once
#include "codegen/kernels/SumPartials.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Threads stand in a grid of partial rows by columns: each sums its rows, then neighbours add up.
template <typename T, SumPartialsParams P, typename Store>
HYBRID_DEVICE void sumPartials(int64_t item, const T *partial, Store y) {
  const auto write = asStore<P.yStride>(y);
  constexpr int rows = static_cast<int>(sumPartialsRows<T>(P)),
                columns = static_cast<int>(sumPartialsThreads) / rows;
  const int column = static_cast<int>(threadIdx.x) % columns,
            row = static_cast<int>(threadIdx.x) / columns;
  const int64_t at = item * columns + column;
  T sum = 0;
  if (at < P.columns)
    for (int64_t i = row; i < P.count; i += rows)
      sum += partial[i * P.stride + at];
  if constexpr (rows > 1) {
    T *sums = sharedMemory<T>();
    sums[threadIdx.x] = sum;
    HYBRID_UNROLL
    for (int half = rows / 2; half > 0; half /= 2) {
      blockBarrier();
      if (row < half)
        sums[threadIdx.x] += sums[threadIdx.x + half * columns];
    }
    sum = sums[column];
  }
  if (row == 0 && at < P.columns)
    write(at / P.width, at % P.width, sum);
}

} // namespace hybrid::cuda
