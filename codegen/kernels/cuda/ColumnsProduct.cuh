//===- ColumnsProduct.cuh - products of columns, tile by tile -----------------===//
//
// A block has rowTile columns of a and columnTile of b, and sums a' b over rows: gradients of
// weights. Tiles along the contraction pass through shared memory, the next one on its way while
// this one is multiplied.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/ColumnsProduct.h"
#include "codegen/kernels/cuda/RowsProduct.cuh"

namespace hybrid::cuda {

/// Of columns of A and B in global memory, `wide` elements of which are moved at once.
template <typename T, typename A, typename B, ColumnsProductParams P, int wide>
struct ColumnsTimesRows {
  static constexpr Products products = productsOf<T>(P.bf16);
  static constexpr int rowTile = static_cast<int>(P.rowTile),
                       columnTile = static_cast<int>(P.columnTile),
                       depth = static_cast<int>(P.depth), threadCount = threads(P);
  static constexpr bool byMatrices = products == Products::Bf16;
  using Left = TileProduct<products, T, rowTile, 4>;
  using Right = TileProduct<products, T, columnTile, 4>;
  using Element = typename Left::Element;
  static constexpr int leftElements = depth * Left::stride,
                       setElements = leftElements + depth * Right::stride;

  T sums[2][4][4] = {};

  /// Adds the products of `rows` rows, of which a has aColumns columns from here on, and b
  /// bColumns. shared: columnsProductShared() bytes.
  HYBRID_DEVICE void multiply(T *shared, const A *a, int64_t aStride, int aColumns, const B *b,
                              int64_t bStride, int bColumns, int rows) {
    TileInFlight<A, Left, depth, rowTile, wide, threadCount, true, false, P.wholeRows != 0> left;
    TileInFlight<B, Right, depth, columnTile, wide, threadCount, true, false, P.wholeColumns != 0>
        right;
    auto *sets = reinterpret_cast<Element *>(shared);
    auto start = [&](int set, int row) {
      left.start(sets + set * setElements, a + row * aStride, aStride, rows - row, aColumns);
      right.start(sets + set * setElements + leftElements, b + row * bStride, bStride, rows - row,
                  bColumns);
      commitCopies();
    };
    auto finish = [&](int set) {
      left.finish(sets + set * setElements);
      right.finish(sets + set * setElements + leftElements);
    };
    if (rows > 0) {
      start(0, 0);
      finish(0);
    }
    int set = 0;
    HYBRID_NO_UNROLL
    for (int row = 0; row < rows; row += depth) {
      waitCopies<0>();
      blockBarrier();
      const bool more = row + depth < rows;
      if (more)
        start(1 - set, row + depth);
      const Element *tiles = sets + set * setElements;
      product(tiles + firstRow(), tiles + leftElements + firstColumn());
      set = 1 - set;
      if (more)
        finish(set);
    }
  }

  /// Stores the tile at its place in a dense result, which has rowCount rows and columnCount
  /// columns from there on.
  template <int64_t stride> HYBRID_DEVICE void store(T *to, int rowCount, int columnCount) const {
    const int g = rowOfLane(), t = columnOfLane();
    HYBRID_UNROLL
    for (int half = 0; half < 4; ++half) { // eight rows
      const int row = firstRow() + (byMatrices ? half * 8 + g : Left::columnOf(half, g));
      const auto &own = sums[half / 2];
      if constexpr (byMatrices && P.wholePacks != 0) {
        // A lane has two neighbouring columns of each block: of two blocks, neighbouring lanes make
        // four of one each, so that lanes fill sectors of memory together.
        HYBRID_UNROLL
        for (int pair = 0; pair < 4; pair += 2) {
          Pack<T, 4> four;
          HYBRID_UNROLL
          for (int i = 0; i < 2; ++i) {
            const T first = own[pair][half % 2 * 2 + i], second = own[pair + 1][half % 2 * 2 + i];
            const T other = shuffleXor(t % 2 ? first : second, 1);
            four[i] = t % 2 ? other : first, four[2 + i] = t % 2 ? second : other;
          }
          const int column = firstColumn() + (pair + t % 2) * 8 + t / 2 * 4;
          if ((P.wholeRows != 0 || row < rowCount) && (P.wholeColumns != 0 || column < columnCount))
            storePack(to + row * stride + column, four);
        }
      } else {
        HYBRID_UNROLL
        for (int block = 0; block < 4; ++block)
          HYBRID_UNROLL
        for (int odd = 0; odd < 2; ++odd) {
          const int column = firstColumn() + (byMatrices ? block * 8 + 2 * t + odd
                                                         : Right::columnOf(block, 2 * t + odd));
          if (row < rowCount && column < columnCount)
            to[row * stride + column] = own[block][half % 2 * 2 + odd];
        }
      }
    }
  }

private:
  /// Adds the products of two tiles, from a warp's columns on.
  HYBRID_DEVICE void product(const Element *left, const Element *right) {
    if constexpr (byMatrices)
      multiplyMatrices<true, depth>(sums, left, Left::stride, right, Right::stride);
    else
      Right::template columnsTimesRows<Left, 2, 4, depth>(
          [&](int i, int block) -> T(&)[4] { return sums[i][block]; }, left, right);
  }
  /// The begin of a warp's part of the tile.
  static HYBRID_DEVICE int firstRow() { return rowOfWarp<columnTile>(); }
  static HYBRID_DEVICE int firstColumn() { return columnOfWarp<columnTile>(); }
};

} // namespace hybrid::cuda
