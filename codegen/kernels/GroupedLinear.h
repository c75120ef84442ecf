//===- GroupedLinear.h - contract of products of groups of rows -------------===//
//
// On CUDA; on the CPU a library computes the products of each group.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/ColumnsProduct.h"
#include "codegen/kernels/RowsProduct.h"

namespace hybrid {

/// Group e owns the rows offsets[e] <= row < offsets[e + 1], which only the device knows; rows
/// behind offsets[groups] belong to nobody. Everything is dense.
struct GroupedLinearParams {
  int64_t rows, groups, inputs, outputs, transposed;
  int64_t splits;    // equal parts of a group's rows, whose gradients are summed apart
  int64_t bf16;      // products of operands rounded to bf16; else as exact as the element type
  int64_t alignment; // elements, 1, 2 or 4, that inputs, outputs and places of buffers are
                     // multiples of
  int64_t rowTile, columnTile; // multiples of 32
  HYBRID_FIELDS(rows, groups, inputs, outputs, transposed, splits, bf16, alignment, rowTile,
                columnTile)
};

namespace cuda {

/// Of the contraction: columns of tiles between two barriers.
constexpr int64_t groupedLinearDepth = 32;

constexpr RowsProductParams rowsProductOf(const GroupedLinearParams &p) {
  return {p.inputs,          p.transposed, p.bf16, groupedLinearDepth,
          p.rowTile,         p.columnTile, 0,      p.outputs % p.columnTile == 0,
          p.outputs % 8 == 0};
}
constexpr int threads(const GroupedLinearParams &p) { return threads(rowsProductOf(p)); }
constexpr int64_t groupedLinearItems(const GroupedLinearParams &p) {
  // Each group, and the rows of nobody, end with a tile that may not be full.
  return (p.rows / p.rowTile + p.groups + 1) * ceilDiv(p.outputs, p.columnTile);
}
constexpr int64_t groupedLinearGradItems(const GroupedLinearParams &p) {
  return p.splits * p.groups * ceilDiv(p.outputs, p.rowTile) * ceilDiv(p.inputs, p.columnTile);
}

/// Of the gradient.
constexpr ColumnsProductParams columnsProductOf(const GroupedLinearParams &p) {
  return {p.bf16,
          groupedLinearDepth,
          p.rowTile,
          p.columnTile,
          p.outputs % p.rowTile == 0,
          p.inputs % p.columnTile == 0,
          p.alignment % 4 == 0};
}

} // namespace cuda

/// The largest tiles that give each of about 130 multiprocessors two blocks, if rows spread evenly.
struct GroupedLinearTiles {
  template <typename T> static constexpr GroupedLinearParams onCuda(GroupedLinearParams p) {
    p.splits = 1;
    // A contraction of one step only moves memory: small blocks, many at once.
    p.rowTile = sizeof(T) == 8 || p.inputs <= cuda::groupedLinearDepth ? 64 : 128;
    p.columnTile = 64;
    while (p.columnTile > 32 && p.outputs <= p.columnTile / 2)
      p.columnTile /= 2;
    while (p.rowTile > 32 &&
           (p.rows / p.groups <= p.rowTile / 2 || cuda::groupedLinearItems(p) < 264))
      p.rowTile /= 2;
    return p;
  }
};
/// The same for the gradient, whose contraction can be cut instead. rowTile counts outputs,
/// columnTile inputs.
struct GroupedLinearGradTiles {
  template <typename T> static constexpr GroupedLinearParams onCuda(GroupedLinearParams p) {
    p.splits = 1;
    p.rowTile = sizeof(T) == 8 ? 64 : 128, p.columnTile = 64;
    while (p.rowTile > 32 && p.outputs <= p.rowTile / 2)
      p.rowTile /= 2;
    while (p.columnTile > 32 && p.inputs <= p.columnTile / 2)
      p.columnTile /= 2;
    while (cuda::groupedLinearGradItems(p) < 264 && p.splits < 64 &&
           p.rows / (p.groups * 2 * p.splits) >= 4 * cuda::groupedLinearDepth)
      p.splits *= 2;
    return p;
  }
};

/// y[r] = x[r] weight[e]', for rows of nobody 0. weight is [groups, outputs, inputs]; transposed:
/// [groups, inputs, outputs], not transposed. Buffers: x, weight, offsets, y, a store. An item is a
/// tile of y; there are as many as any offsets can ask for.
struct GroupedLinear : KernelOf<GroupedLinearParams, "grouped_linear"> {
  HYBRID_ACTIVATIONS(0, 3)
  HYBRID_ON_CUDA(cuda::groupedLinearItems(p), cuda::threads(p),
                 cuda::rowsProductShared<T>(cuda::rowsProductOf(p)))
};

/// dw[e] = sum over its rows of dy[r]' x[r]. Buffers: x, dy, offsets, partial [splits, groups,
/// outputs, inputs], added by sum_partials. An item is a tile of one of them.
struct GroupedLinearGrad : KernelOf<GroupedLinearParams, "grouped_linear_grad", 3> {
  HYBRID_ACTIVATIONS(0, 1)
  HYBRID_ON_CUDA(cuda::groupedLinearGradItems(p), cuda::threads(p),
                 cuda::columnsProductShared<T>(cuda::columnsProductOf(p)))
};

} // namespace hybrid
