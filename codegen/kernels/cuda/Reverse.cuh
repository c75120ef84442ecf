//===- Reverse.cuh - a sequence backwards -----------------------------------===//
#pragma once
#include "codegen/kernels/Reverse.h"
#include "codegen/kernels/cuda/Rows.cuh"

namespace hybrid::cuda {

template <typename T, ReverseParams P> HYBRID_DEVICE void reverse(int64_t item, const T *x, T *y) {
  using Rows = RowsOfItem<P.inner, rowsOfBlock(P.inner)>;
  const int64_t row = Rows::row(item, P.outer * P.count), outer = row / P.count, i = row % P.count;
  if (outer >= P.outer)
    return;
  const T *from = x + row * P.inner;
  T *to = y + (outer * P.count + P.count - 1 - i) * P.inner;
  for (int64_t k = Rows::thread(); k < P.inner; k += threadsOfRow(P.inner))
    to[k] = from[k];
}

} // namespace hybrid::cuda
