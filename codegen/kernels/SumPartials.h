//===- SumPartials.h - contract of sums of partial results ------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

struct SumPartialsParams {
  int64_t count, columns, stride;
  HYBRID_FIELDS(count, columns, stride)
};

namespace cuda {
/// A vector of columns side by side, as many threads as fit along the partial rows.
constexpr int64_t sumPartialsThreads = 256;
} // namespace cuda

/// out[j] = sum over i of partial[i*stride + j], pairwise in i. Buffers: partial, out. An item is a
/// vector of columns.
struct SumPartials : KernelOf<SumPartialsParams, "sum_partials", 1> {
  HYBRID_ON_CPU(ceilDiv(p.columns, lanes<T>))
  HYBRID_ON_CUDA(ceilDiv(p.columns, lanes<T>), cuda::sumPartialsThreads,
                 cuda::sumPartialsThreads *static_cast<int64_t>(sizeof(T)))
};

} // namespace hybrid
