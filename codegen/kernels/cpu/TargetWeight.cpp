//===- TargetWeight.cpp - the weight of all targets -------------------------===//
#include "codegen/kernels/TargetWeight.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void target_weight(int64_t lo, int64_t hi, void *const *buffers, void *,
                                 const TargetWeightParams &params) {
  if (lo >= hi)
    return;
  const int32_t *targets = static_cast<const int32_t *>(buffers[0]);
  const T *weights = static_cast<const T *>(buffers[1]);
  double sum = 0;
  for (int64_t row = 0; row < params.rows; ++row)
    if (targets[row] != params.ignoreIndex)
      sum += params.hasWeights ? static_cast<double>(weights[row]) : 1.0;
  *static_cast<T *>(buffers[2]) = static_cast<T>(sum);
}

} // namespace

HYBRID_KERNEL(target_weight, TargetWeightParams)
