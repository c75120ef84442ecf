//===- GroupedLinearTiles.h - launches of products of groups of rows ----------===//
//
// Included by the lowering and by the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"
#include "codegen/kernels/cuda/TileProductParams.h"

namespace hybrid::cuda {

/// Group e owns the rows offsets[e] <= row < offsets[e + 1], which only the device knows; rows
/// behind offsets[groups] belong to nobody. Everything is dense; y is a store.
/// grouped_linear: y[r] = x[r] weight[e]', for rows of nobody 0. weight is [groups, outputs,
/// inputs]; transposed: [groups, inputs, outputs], not transposed. buffers: x, weight, offsets, y.
/// A block owns a tile of y; there are as many as any offsets can ask for.
/// grouped_linear_grad: dw[e] = sum over its rows of dy[r]' x[r]. buffers: x, dy, offsets, partial
/// [splits, groups, outputs, inputs]: the sums of `splits` equal parts of a group's rows, added by
/// sum_partials. A block owns a tile of one of them; rowTile counts outputs, columnTile inputs.
/// grid = groupedLinearItems().
struct GroupedLinearTiles {
  int64_t rows, groups, inputs, outputs, transposed, splits;
  int64_t bf16;      // products of operands rounded to bf16; else as exact as the element type
  int64_t alignment; // elements, 1, 2 or 4, that inputs and outputs are multiples of
  int64_t rowTile, columnTile; // multiples of 32
};

/// Of the contraction: columns of tiles between two barriers.
constexpr int64_t groupedLinearDepth = 32;

/// A warp has 32 x 32 of a tile.
constexpr int threads(const GroupedLinearTiles &p) {
  return static_cast<int>(p.rowTile / 32 * (p.columnTile / 32) * 32);
}
constexpr int64_t groupedLinearItems(const GroupedLinearTiles &p) {
  // Each group, and the rows of nobody, end with a tile that may not be full.
  return (p.rows / p.rowTile + p.groups + 1) * ceilDiv(p.outputs, p.columnTile);
}
constexpr int64_t groupedLinearGradItems(const GroupedLinearTiles &p) {
  return p.splits * p.groups * ceilDiv(p.outputs, p.rowTile) * ceilDiv(p.inputs, p.columnTile);
}

/// Two sets of tiles: one is computed with while the other is filled.
template <typename T> constexpr int64_t groupedLinearShared(const GroupedLinearTiles &p) {
  constexpr int64_t size = sizeof(T), depth = groupedLinearDepth;
  const Products products = productsOf<T>(p.bf16);
  int64_t right = p.transposed ? tileBytes(products, size, depth, p.columnTile)
                               : tileBytes(products, size, p.columnTile, depth);
  return 2 * (tileBytes(products, size, p.rowTile, depth) + right);
}
template <typename T> constexpr int64_t groupedLinearGradShared(const GroupedLinearTiles &p) {
  constexpr int64_t size = sizeof(T), depth = groupedLinearDepth;
  const Products products = productsOf<T>(p.bf16);
  return 2 * (tileBytes(products, size, depth, p.rowTile) +
              tileBytes(products, size, depth, p.columnTile));
}

/// The largest tiles that give each of about 130 multiprocessors two blocks, if rows spread evenly.
template <typename T> constexpr GroupedLinearTiles groupedLinearTiles(GroupedLinearTiles p) {
  p.splits = 1;
  // A contraction of one step only moves memory: small blocks, many at once.
  p.rowTile = sizeof(T) == 8 || p.inputs <= groupedLinearDepth ? 64 : 128, p.columnTile = 64;
  while (p.columnTile > 32 && p.outputs <= p.columnTile / 2)
    p.columnTile /= 2;
  while (p.rowTile > 32 && (p.rows / p.groups <= p.rowTile / 2 || groupedLinearItems(p) < 264))
    p.rowTile /= 2;
  return p;
}
/// The same for the gradient, whose contraction can be cut instead.
template <typename T> constexpr GroupedLinearTiles groupedLinearGradTiles(GroupedLinearTiles p) {
  p.splits = 1;
  p.rowTile = sizeof(T) == 8 ? 64 : 128, p.columnTile = 64;
  while (p.rowTile > 32 && p.outputs <= p.rowTile / 2)
    p.rowTile /= 2;
  while (p.columnTile > 32 && p.inputs <= p.columnTile / 2)
    p.columnTile /= 2;
  while (groupedLinearGradItems(p) < 264 && p.splits < 64 &&
         p.rows / (p.groups * 2 * p.splits) >= 4 * groupedLinearDepth)
    p.splits *= 2;
  return p;
}

} // namespace hybrid::cuda
