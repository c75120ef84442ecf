//===- LayerNorm.h - contract of layer norms --------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// alignment: elements that are moved together, which divide the columns, the strides and where
/// operands begin.
struct LayerNormParams {
  int64_t rows, columns, xStride, yStride /* also dy */, dxStride, rowsPerItem;
  int64_t hasWeight, hasBias, alignment;
  double eps;
  HYBRID_FIELDS(rows, columns, xStride, yStride, dxStride, rowsPerItem, hasWeight, hasBias,
                alignment, eps)
};

/// y = (x-mean)/sqrt(var+eps) * w + b. Buffers: x, w (optional), b (optional), y, a store. An item
/// is a row.
struct LayerNormForward : KernelOf<LayerNormParams, "layernorm_forward"> {
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(cuda::rowGrid<T>(p.rows, p.columns, p.rowsPerItem))
  HYBRID_ROUNDABLE(0, 3)
};

/// Buffers: x, w (optional), dy, partial (may be null), dx, a store. An item is rowsPerItem rows;
/// partial is [items, 2, columns]: dw sums, then db sums.
struct LayerNormBackward : KernelOf<LayerNormParams, "layernorm_backward", 3> {
  HYBRID_ON_CPU(ceilDiv(p.rows, p.rowsPerItem))
  HYBRID_ON_CUDA(cuda::normBackwardGrid<T>(ceilDiv(p.rows, p.rowsPerItem), p.columns))
  HYBRID_ROUNDABLE(0, 2, 4)
  HYBRID_ROW_FUNCTION_OF(2)
};

} // namespace hybrid
