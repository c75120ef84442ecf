//===- Take.h - contract of values at indices, and back ---------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

struct TakeParams {
  int64_t rows, columns, count, xStride, yStride;
  HYBRID_FIELDS(rows, columns, count, xStride, yStride)
};

namespace cuda {
constexpr int64_t takeThreads = 256;
} // namespace cuda

/// y[r, j] = x[r, indices[r, j]], NaN for an index outside. Buffers: x [rows, columns], indices
/// (int32 [rows, count]), y [rows, count]. An item is a row, on CUDA a thread an element of y.
struct Take : KernelOf<TakeParams, "take", 2> {
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(ceilDiv(p.rows *p.count, cuda::takeThreads), cuda::takeThreads)
};

/// y[r, i] = sum of x[r, j] over indices[r, j] == i, in the order of j. Buffers: x [rows, count],
/// indices, y [rows, columns]. Items as of take.
struct Scatter : KernelOf<TakeParams, "scatter", 2> {
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(ceilDiv(p.rows *p.columns, cuda::takeThreads), cuda::takeThreads)
};

} // namespace hybrid
