//===- ColumnsProduct.h - sizes of products of columns ----------------------===//
//
// Of cuda/ColumnsProduct.cuh: a block multiplies some columns of a matrix with some of another one
// that has as many rows, and sums over those.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/TileProduct.h"

namespace hybrid::cuda {

/// bf16: products of operands rounded to bf16, else as exact as the element type; depth: how much
/// of the contraction is between two barriers; this and tiles are multiples of 32. wholeRows,
/// wholeColumns: no tile has fewer than rowTile or columnTile; wholePacks: columns of the result
/// are a multiple of 4, and it begins at 16 bytes.
struct ColumnsProductParams {
  int64_t bf16, depth, rowTile, columnTile, wholeRows, wholeColumns, wholePacks;
};

/// A warp has 32 x 32 of a tile.
constexpr int threads(const ColumnsProductParams &p) {
  return static_cast<int>(p.rowTile / 32 * (p.columnTile / 32) * 32);
}
/// Two sets of tiles: one is multiplied while the other is filled.
template <typename T> constexpr int64_t columnsProductShared(const ColumnsProductParams &p) {
  constexpr int64_t size = sizeof(T);
  const Products products = productsOf<T>(p.bf16);
  return 2 * (tileBytes(products, size, p.depth, p.rowTile) +
              tileBytes(products, size, p.depth, p.columnTile));
}

} // namespace hybrid::cuda
