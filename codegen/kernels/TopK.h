//===- TopK.h - contract of the places of the largest values ----------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// Places of the k largest of each row, lowest index first among equals, NaN last.
struct TopKParams {
  int64_t rows, columns, k, xStride;
  HYBRID_FIELDS(rows, columns, k, xStride)
};

/// Buffers: x [rows, columns], indices (int32 [rows, k]). An item is a row, on CUDA a row a warp.
struct TopK : KernelOf<TopKParams, "top_k", 1> {
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(cuda::warpGrid(p.rows))
};

} // namespace hybrid
