//===- TargetWeight.cpp - the weight of all targets -------------------------===//
#include "codegen/kernels/TargetWeight.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void target_weight(int64_t, Buffers buffers, const TargetWeightParams &params) {
  const int32_t *targets = buffers.at<const int32_t>(0);
  const T *weights = buffers.at<const T>(1);
  double sum = 0;
  for (int64_t row = 0; row < params.rows; ++row)
    if (targets[row] != params.ignoreIndex)
      sum += params.hasWeights ? static_cast<double>(weights[row]) : 1.0;
  *buffers.at<T>(2) = static_cast<T>(sum);
}

} // namespace

HYBRID_KERNEL(target_weight, TargetWeightParams)
