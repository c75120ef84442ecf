//===- RmsNorm.h - contract of root mean square norms -----------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// alignment: elements that are moved together, which divide the columns, the strides and where
/// operands begin.
struct RmsNormParams {
  int64_t rows, columns, xStride, yStride /* also dy */, dxStride, rowsPerItem;
  int64_t hasWeight, epsOutside, alignment;
  double eps;
  HYBRID_FIELDS(rows, columns, xStride, yStride, dxStride, rowsPerItem, hasWeight, epsOutside,
                alignment, eps)
};

/// y = x * r * w, r = 1/sqrt(mean(x^2)+eps), or 1/(rms(x)+eps) if epsOutside. Buffers: x, w
/// (optional), y, a store. An item is a row.
struct RmsNormForward : KernelOf<RmsNormParams, "rmsnorm_forward"> {
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(cuda::rowGrid<T>(p.rows, p.columns, p.rowsPerItem))
  HYBRID_ROUNDABLE(0, 2)
};

/// Buffers: x, w (optional), dy, partial, dx, a store. An item is rowsPerItem rows. partial is
/// [items, columns], sums of dy*x*r over the rows of an item, reduced by sum_partials; without a
/// weight it is not touched.
struct RmsNormBackward : KernelOf<RmsNormParams, "rmsnorm_backward", 3> {
  HYBRID_ON_CPU(ceilDiv(p.rows, p.rowsPerItem))
  HYBRID_ON_CUDA(cuda::normBackwardGrid<T>(ceilDiv(p.rows, p.rowsPerItem), p.columns))
  HYBRID_ROUNDABLE(0, 2, 4)
  HYBRID_ROW_FUNCTION_OF(2)
};

} // namespace hybrid
