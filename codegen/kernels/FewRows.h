//===- FewRows.h - contract of products of a few rows with weights ----------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

/// y[r, n] = Σ_k x[r, k] weight[n, k] (+ bias[n]), x and weight of bf16, sums, bias and y of T.
struct FewRowsParams {
  int64_t rows, columns, inner, xStride, weightStride, yStride, hasBias;
  HYBRID_FIELDS(rows, columns, inner, xStride, weightStride, yStride, hasBias)
};

/// Rows that such a product is worth it for: what a step of decoding has. It reads the weights once
/// from memory, and then is done; more rows are a matrix product.
constexpr int64_t mostFewRows = 16;

/// Columns of an item: its weights stay in cache for the further rows.
constexpr int64_t fewRowsColumns = 16;

/// Buffers: x, weight, bias (optional), y. An item is a block of columns. Of f32 alone, and of the
/// CPU alone: cuBLASLt has such products.
struct FewRowsProduct : KernelOf<FewRowsParams, "few_rows_product", 3> {
  HYBRID_ON_CPU(ceilDiv(p.columns, fewRowsColumns), 0, p.inner *static_cast<int64_t>(sizeof(T)))
};

} // namespace hybrid
