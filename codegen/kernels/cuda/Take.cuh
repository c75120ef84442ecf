//===- Take.cuh - values at indices, and back -------------------------------===//
#pragma once
#include "codegen/kernels/Take.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

template <typename T, TakeParams P>
HYBRID_DEVICE void take(int64_t item, const T *x, const int32_t *indices, T *y) {
  const int64_t element = item * takeThreads + threadIdx.x;
  if (element >= P.rows * P.count)
    return;
  const int64_t row = element / P.count, i = indices[element];
  y[row * P.yStride + element % P.count] =
      i >= 0 && i < P.columns ? x[row * P.xStride + i] : notANumber<T>();
}

template <typename T, TakeParams P>
HYBRID_DEVICE void scatter(int64_t item, const T *x, const int32_t *indices, T *y) {
  const int64_t element = item * takeThreads + threadIdx.x;
  if (element >= P.rows * P.columns)
    return;
  const int64_t row = element / P.columns, i = element % P.columns;
  T sum = T(0);
  HYBRID_NO_UNROLL
  for (int64_t j = 0; j < P.count; ++j)
    if (indices[row * P.count + j] == i)
      sum += x[row * P.xStride + j];
  y[row * P.yStride + i] = sum;
}

} // namespace hybrid::cuda
