//===- SmallProduct.cuh - products that take less than a launch --------------===//
#pragma once
#include "codegen/kernels/SmallProduct.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Neighbouring lanes have neighbouring terms of a result, and add up.
template <typename T, SmallProductParams P, typename Store>
HYBRID_DEVICE void smallProduct(int64_t item, const T *a, const T *b, const T *bias, Store y) {
  constexpr int lanes = static_cast<int>(smallProductLanes(P)),
                results = static_cast<int>(smallProductThreads) / lanes,
                each = static_cast<int>(ceilDiv(P.inner, lanes)), together = each < 8 ? each : 8;
  const auto write = asStore<P.yStride>(y);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % lanes,
            result = static_cast<int>(item) * results + thread / lanes,
            row = result / static_cast<int>(P.columns),
            column = result % static_cast<int>(P.columns);
  const bool exists = row < P.rows;
  const T *left = a + row * (P.transposeA ? 1 : P.aStride),
          *right = b + column * (P.transposeB ? P.bStride : 1);
  T sum = 0;
  HYBRID_NO_UNROLL
  for (int first = 0; first < each; first += together) {
    HYBRID_UNROLL
    for (int i = 0; i < together; ++i)
      if (const int k = (first + i) * lanes + lane; exists && k < P.inner)
        sum = multiplyAdd(left[k * (P.transposeA ? P.aStride : 1)],
                          right[k * (P.transposeB ? 1 : P.bStride)], sum);
  }
  sum = laneSum<lanes>(sum);
  if (lane == 0 && exists)
    write(row, column, P.hasBias ? sum + bias[column] : sum);
}

} // namespace hybrid::cuda
