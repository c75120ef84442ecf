//===- Dispatch.cuh - rows to experts and back ------------------------------===//
#pragma once
#include "codegen/kernels/Dispatch.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// By a warp; several elements are under way at once.
template <int64_t columns, typename T> HYBRID_DEVICE void copyRow(const T *from, T *to) {
  constexpr int batch = 4;
  HYBRID_NO_UNROLL
  for (int64_t first = laneIndex(); first < columns; first += batch * warpSize) {
    T values[batch];
    HYBRID_UNROLL
    for (int i = 0; i < batch; ++i)
      if (first + i * warpSize < columns)
        values[i] = from[first + i * warpSize];
    HYBRID_UNROLL
    for (int i = 0; i < batch; ++i)
      if (first + i * warpSize < columns)
        to[first + i * warpSize] = values[i];
  }
}

template <typename T, DispatchParams P>
HYBRID_DEVICE void dispatch(int64_t item, const T *x, const int32_t *slots, T *y) {
  const int64_t row = item * warpRows + warpIndex();
  if (row >= P.rows)
    return;
  const int64_t slot = slots[row];
  if (slot >= 0 && slot < P.rows)
    copyRow<P.columns>(x + row / P.choices * P.tokenStride + row % P.choices * P.choiceStride,
                       y + slot * P.yStride);
}

template <typename T, DispatchParams P>
HYBRID_DEVICE void collect(int64_t item, const T *x, const int32_t *slots, T *y) {
  const int64_t row = item * warpRows + warpIndex();
  if (row >= P.rows)
    return;
  const int64_t slot = slots[row];
  y += row * P.yStride;
  if (slot >= 0 && slot < P.rows) {
    copyRow<P.columns>(x + slot * P.tokenStride, y);
  } else {
    for (int64_t column = laneIndex(); column < P.columns; column += warpSize)
      y[column] = notANumber<T>();
  }
}

} // namespace hybrid::cuda
