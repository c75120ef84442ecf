//===- GroupedLinear.cuh - products of groups of rows with their own weights --===//
//
// Where groups begin is known on the device only: a block finds its group and rows from the
// offsets. Tiles of 32 along the contraction pass through shared memory, the next one on its way in
// registers while this one is multiplied.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/GroupedLinear.h"
#include "codegen/kernels/cuda/TileProduct.cuh"

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

/// A tile of rows x columns on its way to shared memory, by `threadCount` threads, while another
/// one is multiplied: copied without waiting where memory holds what the tile does, otherwise held
/// in registers if they are few, or read at the end.
template <typename T, typename Tile, int rows, int columns, int wide, int threadCount, bool several>
struct TileInFlight {
  using Element = typename Tile::Element;
  static constexpr int packs = rows * columns / wide;
  static constexpr int count = (packs + threadCount - 1) / threadCount;
  static constexpr bool copies = sizeof(Element) == sizeof(T);
  static constexpr bool holds = several && !copies && count <= 8 && count * wide <= 16;
  static constexpr int atOnce = holds || count < 2 ? count : copies ? 4 : 2;
  Pack<Element, wide> held[holds ? count : 1]; // rounded already: half the registers
  const T *from;
  int64_t stride;
  int rowCount, columnCount;

  /// Rows below `matrixRows` and columns below `matrixColumns` of a matrix; the rest is 0.
  HYBRID_DEVICE void start(Element *tile, const T *matrix, int64_t matrixStride, int matrixRows,
                           int matrixColumns) {
    from = matrix, stride = matrixStride, rowCount = matrixRows, columnCount = matrixColumns;
    if constexpr (copies) {
      HYBRID_NO_UNROLL
      for (int first = 0; first < count; first += atOnce)
        HYBRID_UNROLL
      for (int i = first; i < first + atOnce; ++i) {
        const int pack = static_cast<int>(threadIdx.x) + i * threadCount;
        const int row = pack / (columns / wide), column = pack % (columns / wide) * wide;
        const bool there = row < rowCount && column < columnCount;
        if (pack < packs)
          copyAsync<wide *static_cast<int>(sizeof(T))>(tile + row * Tile::stride + column,
                                                       there ? from + row * stride + column : from,
                                                       there);
      }
    } else if constexpr (holds) {
      Pack<T, wide> part[atOnce];
      read(part, 0);
      HYBRID_UNROLL
      for (int i = 0; i < count; ++i)
        storeElements(held[i].elements, part[i]);
    }
  }
  /// The tile is whole behind waitCopies() and a barrier.
  HYBRID_DEVICE void finish(Element *tile) const {
    if constexpr (holds) {
      HYBRID_UNROLL
      for (int i = 0; i < count; ++i)
        if (const int pack = static_cast<int>(threadIdx.x) + i * threadCount; pack < packs)
          storePack(place(tile, pack), held[i]);
    } else if constexpr (!copies) {
      HYBRID_NO_UNROLL
      for (int first = 0; first < count; first += atOnce) {
        Pack<T, wide> part[atOnce];
        read(part, first);
        write(part, first, tile);
      }
    }
  }

private:
  HYBRID_DEVICE static Element *place(Element *tile, int pack) {
    return tile + pack / (columns / wide) * Tile::stride + pack % (columns / wide) * wide;
  }
  HYBRID_DEVICE void read(Pack<T, wide> *part, int first) const {
    HYBRID_UNROLL
    for (int i = 0; i < atOnce; ++i) {
      const int pack = static_cast<int>(threadIdx.x) + (first + i) * threadCount;
      const int row = pack / (columns / wide), column = pack % (columns / wide) * wide;
      if (pack < packs && row < rowCount && column < columnCount) {
        part[i] = loadPack<wide>(from + row * stride + column);
      } else {
        HYBRID_UNROLL
        for (int j = 0; j < wide; ++j)
          part[i][j] = T(0);
      }
    }
  }
  HYBRID_DEVICE static void write(const Pack<T, wide> *part, int first, Element *tile) {
    HYBRID_UNROLL
    for (int i = 0; i < atOnce; ++i) {
      const int pack = static_cast<int>(threadIdx.x) + (first + i) * threadCount;
      if (pack < packs)
        storeElements(place(tile, pack), part[i]);
    }
  }
};

template <typename T, GroupedLinearParams P, typename Store>
HYBRID_DEVICE void groupedLinear(int64_t item, const T *x, const T *weight, const int32_t *offsets,
                                 Store y) {
  constexpr Products products = productsOf<T>(P.bf16);
  constexpr int rowTile = static_cast<int>(P.rowTile), columnTile = static_cast<int>(P.columnTile);
  constexpr int depth = static_cast<int>(groupedLinearDepth), threadCount = threads(P);
  constexpr int inputs = static_cast<int>(P.inputs), outputs = static_cast<int>(P.outputs);
  constexpr int wide = packWidth<T, P.alignment>;
  constexpr int columnTiles = static_cast<int>(ceilDiv(P.outputs, P.columnTile));
  constexpr bool transposed = P.transposed != 0;
  // Tiles of rows of x; of weights, rows are outputs, or inputs if transposed.
  constexpr int rightRows = transposed ? depth : columnTile,
                rightColumns = transposed ? columnTile : depth;
  using Left = TileProduct<products, T, depth>;
  using Right = TileProduct<products, T, rightColumns, 4>;
  using Element = typename Left::Element;
  constexpr int leftElements = rowTile * Left::stride,
                setElements = leftElements + rightRows * Right::stride;

  const GroupRows at = findTile<rowTile, static_cast<int>(P.rows), static_cast<int>(P.groups)>(
      offsets, static_cast<int>(item / columnTiles));
  if (at.count <= 0) // of every thread
    return;
  const int firstColumn = static_cast<int>(item % columnTiles) * columnTile;
  const int columnCount = outputs - firstColumn;
  const bool nobody = at.group == static_cast<int>(P.groups);
  x += at.first * P.inputs;
  weight += (nobody ? 0 : at.group) * P.inputs * P.outputs +
            firstColumn * (transposed ? int64_t(1) : P.inputs);

  const int g = laneIndex() / 4, t = laneIndex() % 4;
  const int warpRow = warpIndex() / (columnTile / 32) * 32,
            warpColumn = warpIndex() % (columnTile / 32) * 32;
  T sums[2][4][4];
  clearFragments(sums[0]);
  clearFragments(sums[1]);
  auto sum = [&](int i, int block) -> T(&)[4] { return sums[i][block]; };

  TileInFlight<T, Left, rowTile, depth, wide, threadCount, (inputs > depth)> left;
  TileInFlight<T, Right, rightRows, rightColumns, wide, threadCount, (inputs > depth)> right;
  Element *sets = sharedMemory<Element>();
  auto start = [&](int set, int k) {
    left.start(sets + set * setElements, x + k, P.inputs, at.count, inputs - k);
    Element *rightTile = sets + set * setElements + leftElements;
    if constexpr (transposed)
      right.start(rightTile, weight + k * P.outputs, P.outputs, inputs - k, columnCount);
    else
      right.start(rightTile, weight + k, P.inputs, columnCount, inputs - k);
    commitCopies();
  };
  auto finish = [&](int set) {
    left.finish(sets + set * setElements);
    right.finish(sets + set * setElements + leftElements);
  };
  if (!nobody) {
    start(0, 0);
    finish(0);
    int set = 0;
    HYBRID_NO_UNROLL
    for (int k = 0; k < inputs; k += depth) {
      waitCopies<0>();
      blockBarrier();
      const bool more = k + depth < inputs;
      if (more)
        start(1 - set, k + depth);
      const Element *leftTile = sets + set * setElements, *rightTile = leftTile + leftElements;
      if constexpr (transposed)
        Right::template rowsTimesRows<2, 4, depth>(sum, leftTile + warpRow * Left::stride,
                                                   rightTile + warpColumn);
      else
        Left::template alongColumns<2, 4>(sum, leftTile + warpRow * Left::stride,
                                          rightTile + warpColumn * Right::stride);
      set = 1 - set;
      if (more)
        finish(set);
    }
  }
  const auto write = asStore<P.outputs>(y);
  // Columns of a fragment are in the order of the product that made it.
  HYBRID_UNROLL
  for (int i = 0; i < 2; ++i)
    HYBRID_UNROLL
  for (int block = 0; block < 4; ++block)
    HYBRID_UNROLL
  for (int e = 0; e < 4; ++e) {
    const int row = warpRow + i * 16 + g + e / 2 * 8, c = 2 * t + e % 2;
    const int column = warpColumn + (transposed ? Right::columnOf(block, c) : block * 8 + c);
    if (row < at.count && column < columnCount)
      write(at.first + row, firstColumn + column, sums[i][block][e]);
  }
}

template <typename T, GroupedLinearParams P>
HYBRID_DEVICE void groupedLinearGrad(int64_t item, const T *x, const T *dy, const int32_t *offsets,
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
  x += firstColumn, dy += firstRow;

  const int g = laneIndex() / 4, t = laneIndex() % 4;
  const int warpRow = warpIndex() / (columnTile / 32) * 32,
            warpColumn = warpIndex() % (columnTile / 32) * 32;
  T sums[2][4][4];
  clearFragments(sums[0]);
  clearFragments(sums[1]);
  auto sum = [&](int i, int block) -> T(&)[4] { return sums[i][block]; };

  TileInFlight<T, Left, depth, rowTile, wide, threadCount, true> left;
  TileInFlight<T, Right, depth, columnTile, wide, threadCount, true> right;
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
