//===- RoundedLinear.cuh - products with a region behind them ----------------===//
#pragma once
#include "codegen/kernels/RoundedLinear.h"
#include "codegen/kernels/cuda/RowsProduct.cuh"

namespace hybrid::cuda {

template <typename T, RoundedLinearParams P, typename Store>
HYBRID_DEVICE void roundedLinear(int64_t item, const bf16 *x, const bf16 *weight, Store y) {
  using Tile =
      RowsTimesWeight<T, bf16, bf16, rowsProductOf(P), packWidth<bf16, roundedLinearAlignment>>;
  constexpr int64_t columnTiles = ceilDiv(P.outputs, P.columnTile);
  const int64_t firstRow = item / columnTiles * P.rowTile;
  const int firstColumn = static_cast<int>(item % columnTiles * P.columnTile);
  const int rows = static_cast<int>(minimum<int64_t>(P.rowTile, P.rows - firstRow));
  Tile tile{sharedMemory<T>(), rows, static_cast<int>(P.outputs) - firstColumn};
  auto write = asStore<P.yStride>(y);
  typename Tile::template Ahead<decltype(write)> operands;
  tile.multiply(x + firstRow * P.xStride, P.xStride,
                weight + firstColumn * (P.transposed ? 1 : P.weightStride), P.weightStride,
                [&] { operands.loadFirst(tile, write, firstRow, firstColumn); });
  tile.store(write, firstRow, firstColumn, operands);
}

} // namespace hybrid::cuda
