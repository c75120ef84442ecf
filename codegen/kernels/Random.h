//===- Random.h - contract of initial values --------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// out[elements] from the counter-based generator Philox4x32-10 keyed by (seed, stream): element i
/// depends only on (seed, stream, i), drawn in f32 then widened. distribution 0: uniform in [a, b);
/// 1: normal, mean a, standard deviation b (Box-Muller).
struct RandomParams {
  int64_t elements, stream, distribution;
  double a, b;
  HYBRID_FIELDS(elements, stream, distribution, a, b)
};

constexpr int64_t randomElements = 1024; // of an item

/// Buffers: seed (int32[2]), out.
struct Random : KernelOf<RandomParams, "random", 1> {
  HYBRID_ON_CPU(ceilDiv(p.elements, randomElements))
  HYBRID_ON_CUDA(ceilDiv(p.elements, randomElements), cuda::sumThreads)
};

} // namespace hybrid
