//===- Dispatch.h - contract of rows to experts and back --------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// Row p of x stands at (p / choices) * tokenStride + (p % choices) * choiceStride. A slot outside
/// [0, rows) is never followed. alignment: elements that are moved together, which divide the
/// columns, the strides and where x and y begin.
struct DispatchParams {
  int64_t rows, columns, choices, tokenStride, choiceStride, yStride, alignment;
  HYBRID_FIELDS(rows, columns, choices, tokenStride, choiceStride, yStride, alignment)
};

namespace cuda {

/// Lanes that share a row: up to a warp, with about four elements each of a short one.
constexpr int64_t dispatchLanes(const DispatchParams &p) {
  return threadsOfRow(p.columns, p.columns);
}
/// Rows of a lane, whose loads are on their way together: two of short ones, if that leaves two
/// blocks for each multiprocessor. With four they took the registers of as many warps.
constexpr int64_t dispatchRows(const DispatchParams &p) {
  const int64_t lanes = dispatchLanes(p);
  return p.columns <= 4 * lanes && p.rows * lanes >= 4 * gridProcessors * rowBlock ? 2 : 1;
}
constexpr Grid dispatchGrid(const DispatchParams &p) {
  return {ceilDiv(p.rows, dispatchRows(p) * (rowBlock / dispatchLanes(p))), rowBlock};
}

} // namespace cuda

/// y[slots[p]] = x[p]; a slot outside leaves the row out. Buffers: x, slots (int32 [rows]), y. An
/// item is a row, on CUDA those that a block has.
struct Dispatch : KernelOf<DispatchParams, "dispatch", 2> {
  HYBRID_ACTIVATIONS(0, 2)
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(cuda::dispatchGrid(p))
};

/// y[p] = x[slots[p]], NaN for a slot outside (tokenStride is x's row stride). Buffers and items as
/// of dispatch.
struct Collect : KernelOf<DispatchParams, "collect", 2> {
  HYBRID_ACTIVATIONS(0, 2)
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(cuda::dispatchGrid(p))
};

} // namespace hybrid
