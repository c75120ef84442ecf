//===- RingRows.cuh - new positions to their places in a ring ----------------===//
#pragma once
#include "codegen/kernels/RingRows.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

template <typename T, RingRowsParams P>
HYBRID_DEVICE void ringRows(int64_t item, const T *x, const T *seen, T *ring) {
  const int64_t batch = item / P.written(), t = item % P.written() + P.length - P.written(),
                row = (static_cast<int64_t>(seen[batch]) + t) % P.rows;
  const T *from = x + (batch * P.length + t) * P.stride;
  T *to = ring + (batch * P.rows + row) * P.columns;
  for (int64_t k = threadIdx.x; k < P.columns; k += rowThreads(P.columns))
    to[k] = from[k];
}

} // namespace hybrid::cuda
