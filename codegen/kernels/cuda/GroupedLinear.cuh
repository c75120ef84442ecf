//===- GroupedLinear.cuh - products of groups of rows with their own weights --===//
//
// Where groups begin is known on the device only: a block finds its group and rows from the
// offsets.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/GroupedLinear.h"
#include "codegen/kernels/cuda/RowsProduct.cuh"

namespace hybrid::cuda {

/// Rows [first, first + count) of group `group`; count 0: nothing to do.
struct GroupRows {
  int group, first, count;
};

/// Rows of tile `tile`, when each group takes as many tiles of rowTile as it needs; group `groups`
/// is the rows of nobody. Every warp finds it by itself, 32 groups at a time.
template <int rowTile, int rows, int groups>
HYBRID_DEVICE GroupRows findTile(const int32_t *offsets, int tile) {
  const int lane = laneIndex();
  int before = 0; // tiles
  GroupRows result{groups, 0, 0};
  HYBRID_NO_UNROLL
  for (int base = 0; base <= groups; base += warpSize) {
    const int group = base + lane;
    int begin = group <= groups ? offsets[group] : rows,
        end = group < groups ? offsets[group + 1] : rows;
    begin = minimum(maximum(begin, 0), rows), end = minimum(maximum(end, begin), rows);
    const int own = (end - begin + rowTile - 1) / rowTile;
    int through = own; // tiles of this chunk up to this group
    HYBRID_UNROLL
    for (int delta = 1; delta < warpSize; delta *= 2) {
      const int other = shuffleUp(through, delta);
      through += lane >= delta ? other : 0;
    }
    const int total = shuffle(through, warpSize - 1);
    const int found = warpSum(before + through <= tile ? 1 : 0);
    const int from = shuffle(begin, found % warpSize), to = shuffle(end, found % warpSize);
    const int ahead = shuffle(through - own, found % warpSize);
    if (tile >= before && found < warpSize) {
      const int first = from + (tile - before - ahead) * rowTile;
      return {base + found, first, minimum(rowTile, to - first)};
    }
    before += total;
  }
  return result;
}

template <typename T, GroupedLinearParams P, typename X, typename Store>
HYBRID_DEVICE void groupedLinear(int64_t item, X xBuffer, const T *weight, const int32_t *offsets,
                                 Store y) {
  const auto *x = readable<T>(xBuffer);
  constexpr int outputs = static_cast<int>(P.outputs),
                columnTiles = static_cast<int>(ceilDiv(P.outputs, P.columnTile));
  using Tile = RowsTimesWeight<T, ElementOf<T, X>, T, rowsProductOf(P), packWidth<T, P.alignment>>;
  const GroupRows at =
      findTile<Tile::rowTile, static_cast<int>(P.rows), static_cast<int>(P.groups)>(
          offsets, static_cast<int>(item / columnTiles));
  if (at.count <= 0) // of every thread
    return;
  const int firstColumn = static_cast<int>(item % columnTiles) * Tile::columnTile;
  Tile tile{sharedMemory<T>(), at.count, outputs - firstColumn};
  auto write = asStore<P.outputs>(y);
  typename Tile::template Ahead<decltype(write)> operands;
  auto load = [&] { operands.loadFirst(tile, write, at.first, firstColumn); };
  if (at.group != static_cast<int>(P.groups)) // of nobody
    tile.multiply(x + at.first * P.inputs, P.inputs,
                  weight + at.group * P.inputs * P.outputs +
                      firstColumn * (P.transposed ? int64_t(1) : P.inputs),
                  P.transposed ? P.outputs : P.inputs, load);
  else
    load();
  tile.store(write, at.first, firstColumn, operands);
}

template <typename T, GroupedLinearParams P, typename X, typename Dy>
HYBRID_DEVICE void groupedLinearGrad(int64_t item, X xBuffer, Dy dyBuffer, const int32_t *offsets,
                                     T *partial) {
  constexpr Products products = productsOf<T>(P.bf16);
  constexpr int rowTile = static_cast<int>(P.rowTile), columnTile = static_cast<int>(P.columnTile);
  constexpr int depth = static_cast<int>(groupedLinearDepth), threadCount = threads(P);
  constexpr int wide = packWidth<T, P.alignment>, rows = static_cast<int>(P.rows);
  constexpr int64_t columnTiles = ceilDiv(P.inputs, P.columnTile),
                    tilesOfRows = ceilDiv(P.outputs, P.rowTile);
  using Left = TileProduct<products, T, rowTile, 4>;
  using Right = TileProduct<products, T, columnTile, 4>;
  using Element = typename Left::Element;
  constexpr int leftElements = depth * Left::stride,
                setElements = leftElements + depth * Right::stride;

  const int firstColumn = static_cast<int>(item % columnTiles) * columnTile;
  const int firstRow = static_cast<int>(item / columnTiles % tilesOfRows) * rowTile;
  const int group = static_cast<int>(item / columnTiles / tilesOfRows % P.groups);
  const int split = static_cast<int>(item / columnTiles / tilesOfRows / P.groups);
  const int begin = minimum(maximum(offsets[group], 0), rows);
  const int end = minimum(maximum(offsets[group + 1], begin), rows);
  const int part = (end - begin + static_cast<int>(P.splits) - 1) / static_cast<int>(P.splits);
  const int first = begin + split * part, last = minimum(end, first + part);
  const auto *x = readable<T>(xBuffer) + firstColumn;
  const auto *dy = readable<T>(dyBuffer) + firstRow;

  const int g = laneIndex() / 4, t = laneIndex() % 4;
  const int warpRow = rowOfWarp<columnTile>(), warpColumn = columnOfWarp<columnTile>();
  T sums[2][4][4];
  clearFragments(sums[0]);
  clearFragments(sums[1]);
  auto sum = [&](int i, int block) -> T(&)[4] { return sums[i][block]; };

  TileInFlight<ElementOf<T, Dy>, Left, depth, rowTile, wide, threadCount, true, false,
               P.outputs % rowTile == 0>
      left;
  TileInFlight<ElementOf<T, X>, Right, depth, columnTile, wide, threadCount, true, false,
               P.inputs % columnTile == 0>
      right;
  Element *sets = sharedMemory<Element>();
  auto start = [&](int set, int row) {
    left.start(sets + set * setElements, dy + row * P.outputs, P.outputs, last - row,
               static_cast<int>(P.outputs) - firstRow);
    right.start(sets + set * setElements + leftElements, x + row * P.inputs, P.inputs, last - row,
                static_cast<int>(P.inputs) - firstColumn);
    commitCopies();
  };
  auto finish = [&](int set) {
    left.finish(sets + set * setElements);
    right.finish(sets + set * setElements + leftElements);
  };
  if (first < last) {
    start(0, first);
    finish(0);
  }
  int set = 0;
  HYBRID_NO_UNROLL
  for (int row = first; row < last; row += depth) {
    waitCopies<0>();
    blockBarrier();
    const bool more = row + depth < last;
    if (more)
      start(1 - set, row + depth);
    const Element *leftTile = sets + set * setElements, *rightTile = leftTile + leftElements;
    Right::template columnsTimesRows<Left, 2, 4, depth>(sum, leftTile + warpRow,
                                                        rightTile + warpColumn);
    set = 1 - set;
    if (more)
      finish(set);
  }
  T *to = partial + (split * P.groups + group) * P.outputs * P.inputs;
  HYBRID_UNROLL
  for (int i = 0; i < 2; ++i)
    HYBRID_UNROLL
  for (int block = 0; block < 4; ++block)
    HYBRID_UNROLL
  for (int e = 0; e < 4; ++e) {
    const int row = firstRow + warpRow + Left::columnOf(2 * i + e / 2, g);
    const int column = firstColumn + warpColumn + Right::columnOf(block, 2 * t + e % 2);
    if (row < P.outputs && column < P.inputs)
      to[row * P.inputs + column] = sums[i][block][e];
  }
}

} // namespace hybrid::cuda
