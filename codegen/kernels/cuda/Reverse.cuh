//===- Reverse.cuh - a sequence backwards -----------------------------------===//
#pragma once
#include "codegen/kernels/Reverse.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

template <typename T, ReverseParams P> HYBRID_DEVICE void reverse(int64_t item, const T *x, T *y) {
  const int64_t outer = item / P.count, i = item % P.count;
  const T *from = x + item * P.inner;
  T *to = y + (outer * P.count + P.count - 1 - i) * P.inner;
  for (int64_t k = threadIdx.x; k < P.inner; k += rowThreads(P.inner))
    to[k] = from[k];
}

} // namespace hybrid::cuda
