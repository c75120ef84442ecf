//===- AdamW.h - contract of the optimizer ----------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// One stretch of a parameter that AdamW treats alike. Kernels check that it lies in the parameter
/// space: a table of them is data of an executable, and data may be changed where code is not.
struct ParameterChunk {
  int64_t offset, count; // elements of T from the start of the parameter space
  double decay;          // 1 or 0
  double lrScale;
};

struct AdamWParams {
  int64_t chunks, elements; // of the parameter space
  HYBRID_FIELDS(chunks, elements)
};

/// Elements that an item updates at most, of so many and of stripes of `stripe`. On the CPU a few
/// pages of each of the four arrays; on CUDA fewer where blocks would be too few to have memory
/// busy: an H100 took 12 us for 0.5M parameters in 82 blocks.
struct AdamWPiece {
  template <typename T> static constexpr int64_t onCpu(const AdamWParams &, int64_t stripe) {
    return stripe;
  }
  template <typename T> static constexpr int64_t onCuda(const AdamWParams &p, int64_t stripe) {
    int64_t piece = stripe;
    while (piece > 1024 && p.elements < 4 * cuda::gridProcessors * piece)
      piece /= 2;
    return piece;
  }
};

/// partial[i] = sum of g^2 over chunk i (in double), NaN for one that is not in the space. Buffers:
/// chunks (ParameterChunk), gradients, partial (double). An item is a chunk.
struct SquaredNorm : KernelOf<AdamWParams, "squared_norm", 2> {
  HYBRID_ON_CPU(p.chunks)
  HYBRID_ON_CUDA(p.chunks, cuda::sumThreads, cuda::sumShared)
};

/// norm = sqrt(sum). Buffers: partial, norm (T scalar). One item.
struct GradientNorm : KernelOf<AdamWParams, "gradient_norm", 1> {
  HYBRID_ON_CPU(1)
  HYBRID_ON_CUDA(1, cuda::sumThreads, cuda::sumShared)
};

/// g *= min(1, clip/(norm+1e-6)) if clip > 0; p *= 1 - lr*wd*decay; m, v; p -= lr * m/c1 /
/// (sqrt(v/c2) + eps). Nothing changes when the norm is not finite: the step that made it can be
/// looked at. hyper (double[8]): lr, weight decay, beta1, beta2, eps, clip, c1 = 1-beta1^t, c2 =
/// 1-beta2^t. Buffers: chunks, hyper, norm, parameters, gradients, moment1, moment2. An item is a
/// chunk.
struct AdamW : KernelOf<AdamWParams, "adamw", 3, 5, 6> {
  HYBRID_ON_CPU(p.chunks)
  HYBRID_ON_CUDA(p.chunks, cuda::sumThreads)
};

} // namespace hybrid
