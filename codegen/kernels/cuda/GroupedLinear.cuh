//===- GroupedLinear.cuh - products of groups of rows with their own weights --===//
//
// Where groups begin is known on the device only: a block finds its group and rows from the
// offsets.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/GroupedLinear.h"
#include "codegen/kernels/cuda/ColumnsProduct.cuh"

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
  using Tile = ColumnsTimesRows<T, ElementOf<T, Dy>, ElementOf<T, X>, columnsProductOf(P),
                                packWidth<T, P.alignment>>;
  constexpr int rows = static_cast<int>(P.rows);
  constexpr int64_t columnTiles = ceilDiv(P.inputs, P.columnTile),
                    tilesOfRows = ceilDiv(P.outputs, P.rowTile);
  const int firstColumn = static_cast<int>(item % columnTiles) * Tile::columnTile;
  const int firstRow = static_cast<int>(item / columnTiles % tilesOfRows) * Tile::rowTile;
  const int group = static_cast<int>(item / columnTiles / tilesOfRows % P.groups);
  const int split = static_cast<int>(item / columnTiles / tilesOfRows / P.groups);
  const int begin = minimum(maximum(offsets[group], 0), rows);
  const int end = minimum(maximum(offsets[group + 1], begin), rows);
  const int part = (end - begin + static_cast<int>(P.splits) - 1) / static_cast<int>(P.splits);
  const int first = begin + split * part, last = minimum(end, first + part);
  const int rowCount = static_cast<int>(P.outputs) - firstRow,
            columnCount = static_cast<int>(P.inputs) - firstColumn;
  Tile tile;
  tile.multiply(sharedMemory<T>(), readable<T>(dyBuffer) + firstRow + first * P.outputs, P.outputs,
                rowCount, readable<T>(xBuffer) + firstColumn + first * P.inputs, P.inputs,
                columnCount, last - first);
  tile.template store<P.inputs>(partial + (split * P.groups + group) * P.outputs * P.inputs +
                                    firstRow * P.inputs + firstColumn,
                                rowCount, columnCount);
}

} // namespace hybrid::cuda
