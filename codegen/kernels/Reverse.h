//===- Reverse.h - contract of a dimension backwards ------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// y[o, count-1-i, :] = x[o, i, :], both [outer, count, inner] and dense.
struct ReverseParams {
  int64_t outer, count, inner;
  HYBRID_FIELDS(outer, count, inner)
};

/// Buffers: x, y. An item is a row of `inner` elements.
struct Reverse : KernelOf<ReverseParams, "reverse", 1> {
  HYBRID_ON_CPU(p.outer *p.count)
  HYBRID_ON_CUDA(cuda::rowGrid<T>(p.outer *p.count, p.inner, cuda::rowsOfBlock(p.inner)))
};

} // namespace hybrid
