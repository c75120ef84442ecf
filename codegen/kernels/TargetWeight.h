//===- TargetWeight.h - contract of the weight of all targets ---------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

struct TargetWeightParams {
  int64_t rows, ignoreIndex, hasWeights;
  HYBRID_FIELDS(rows, ignoreIndex, hasWeights)
};

/// Sum of the weights of scored rows: those whose target is not ignoreIndex count weights[row], or
/// 1. Buffers: targets (int32), weights (optional), weight (scalar). One item.
struct TargetWeight : KernelOf<TargetWeightParams, "target_weight", 2> {
  HYBRID_ON_CPU(1)
  HYBRID_ON_CUDA(1, cuda::sumThreads, cuda::sumShared)
};

} // namespace hybrid
