//===- Dispatch.h - contract of rows to experts and back --------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// Row p of x stands at (p / choices) * tokenStride + (p % choices) * choiceStride. A slot outside
/// [0, rows) is never followed.
struct DispatchParams {
  int64_t rows, columns, choices, tokenStride, choiceStride, yStride;
  HYBRID_FIELDS(rows, columns, choices, tokenStride, choiceStride, yStride)
};

/// y[slots[p]] = x[p]; a slot outside leaves the row out. Buffers: x, slots (int32 [rows]), y. An
/// item is a row, on CUDA a row a warp.
struct Dispatch : KernelOf<DispatchParams, "dispatch", 2> {
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(cuda::warpGrid(p.rows))
};

/// y[p] = x[slots[p]], NaN for a slot outside (tokenStride is x's row stride). Buffers and items as
/// of dispatch.
struct Collect : KernelOf<DispatchParams, "collect", 2> {
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(cuda::warpGrid(p.rows))
};

} // namespace hybrid
