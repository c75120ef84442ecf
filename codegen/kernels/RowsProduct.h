//===- RowsProduct.h - sizes of rows times a weight --------------------------===//
//
// Of cuda/RowsProduct.cuh: a block multiplies a tile of rows with a tile of a weight's outputs.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/TileProduct.h"

namespace hybrid::cuda {

/// transposed: the weight is [inputs, outputs], not [outputs, inputs]; bf16: products of operands
/// rounded to bf16, else as exact as the element type; depth: how much of the contraction is
/// between two barriers; this and tiles are multiples of 32. wholeRows, wholeColumns: no tile has
/// fewer than rowTile or columnTile; wholePacks: the outputs are a multiple of 8.
struct RowsProductParams {
  int64_t inputs, transposed, bf16, depth, rowTile, columnTile, wholeRows, wholeColumns, wholePacks;
};

/// A warp has 32 x 32 of a tile.
constexpr int threads(const RowsProductParams &p) {
  return static_cast<int>(p.rowTile / 32 * (p.columnTile / 32) * 32);
}
/// Elements from one row of sums to the next on their way to memory: packs of fragments, of 2
/// elements or, of transposed weights that are not bf16, of 4, keep out of each other's banks.
constexpr int64_t rowsProductStagedStride(const RowsProductParams &p) {
  return p.columnTile + (p.transposed && !p.bf16 ? 4 : 8);
}
/// Two sets of tiles, one to compute with while the other is filled; then the sums.
template <typename T> constexpr int64_t rowsProductShared(const RowsProductParams &p) {
  constexpr int64_t size = sizeof(T);
  const Products products = productsOf<T>(p.bf16);
  const int64_t right = p.transposed ? tileBytes(products, size, p.depth, p.columnTile)
                                     : tileBytes(products, size, p.columnTile, p.depth),
                sets = 2 * (tileBytes(products, size, p.rowTile, p.depth) + right),
                staged = p.rowTile * rowsProductStagedStride(p) * size;
  return sets < staged ? staged : sets;
}

} // namespace hybrid::cuda
