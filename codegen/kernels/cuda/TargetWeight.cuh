//===- TargetWeight.cuh - the weight of all targets -------------------------===//
#pragma once
#include "codegen/kernels/TargetWeight.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

template <typename T, TargetWeightParams P>
HYBRID_DEVICE void targetWeight(int64_t, const int32_t *targets, const T *weights, T *total) {
  constexpr int threads = static_cast<int>(sumThreads);
  double sum = 0;
  for (int64_t row = threadIdx.x; row < P.rows; row += threads)
    if (targets[row] != P.ignoreIndex)
      sum += P.hasWeights ? static_cast<double>(weights[row]) : 1.0;
  sum = blockSum<threads>(sum, sharedMemory<double>());
  if (threadIdx.x == 0)
    *total = static_cast<T>(sum);
}

} // namespace hybrid::cuda
