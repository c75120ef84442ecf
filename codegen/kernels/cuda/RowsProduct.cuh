//===- RowsProduct.cuh - rows times a weight, tile by tile --------------------===//
//
// A block multiplies a tile of rows with a tile of a weight's outputs. Tiles along the contraction
// pass through shared memory, the next one on its way while this one is multiplied. The
// sums go through shared memory, too (StagedSums.cuh).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/RowsProduct.h"
#include "codegen/kernels/cuda/StagedSums.cuh"

namespace hybrid::cuda {

/// A tile of rows x columns on its way to shared memory, by `threadCount` threads, while another
/// one is multiplied: copied without waiting where memory holds what the tile does, otherwise held
/// in registers if they are few, or read at the end. wholeRows, wholeColumns: the matrix has all of
/// those of the tile.
template <typename T, typename Tile, int rows, int columns, int wide, int threadCount, bool several,
          bool wholeRows, bool wholeColumns>
struct TileInFlight {
  using Element = typename Tile::Element;
  static constexpr int packsOfRow = columns / wide, packs = rows * packsOfRow;
  static constexpr int count = (packs + threadCount - 1) / threadCount;
  static constexpr bool copies = sizeof(Element) == sizeof(T) && wide * sizeof(T) >= 4;
  static constexpr bool holds = several && !copies && count <= 8 && count * wide <= 16;
  static constexpr int atOnce = holds || count < 2 ? count : 2;
  Pack<Element, wide> held[holds ? count : 1]; // rounded already: half the registers
  const T *from;
  int64_t stride;
  int rowCount, columnCount;

  /// Rows below `matrixRows` and columns below `matrixColumns` of a matrix; the rest is 0.
  HYBRID_DEVICE void start(Element *tile, const T *matrix, int64_t matrixStride, int matrixRows,
                           int matrixColumns) {
    from = matrix, stride = matrixStride, rowCount = matrixRows, columnCount = matrixColumns;
    if constexpr (copies) {
      constexpr int bytes = wide * static_cast<int>(sizeof(T));
      // One address of each memory: where rows and threads fit, what a thread copies is at
      // constants behind them.
      constexpr bool fits = threadCount % packsOfRow == 0 || packsOfRow % threadCount == 0;
      const int thread = static_cast<int>(threadIdx.x), row = thread / packsOfRow,
                column = thread % packsOfRow * wide;
      const T *first = from + row * stride + column;
      Element *to = tile + row * Tile::stride + column;
      constexpr int together = count > 4 && 4 * threadCount % packsOfRow == 0 ? 4 : count,
                    step = together * threadCount / packsOfRow; // rows
      HYBRID_NO_UNROLL
      for (int done = 0; done < count; done += together) {
        HYBRID_UNROLL
        for (int i = 0; i < together; ++i) {
          const int pack = (fits ? 0 : thread) + i * threadCount,
                    down = pack / packsOfRow - (fits ? 0 : row),
                    along = pack % packsOfRow * wide - (fits ? 0 : column);
          if (!exists(thread + (done + i) * threadCount))
            continue;
          if constexpr (wholeRows && wholeColumns) {
            copyAsync<bytes>(to + down * Tile::stride + along, first + down * stride + along);
          } else {
            const bool there = has(row + done / together * step + down, column + along);
            copyAsync<bytes>(to + down * Tile::stride + along,
                             there ? first + down * stride + along : from, there);
          }
        }
        first += step * stride, to += step * Tile::stride;
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
        if (const int pack = static_cast<int>(threadIdx.x) + i * threadCount; exists(pack))
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
  HYBRID_DEVICE static bool exists(int pack) {
    constexpr bool none = copies ? count <= 4 || count % 4 == 0 : count % atOnce == 0; // beyond
    return (packs % threadCount == 0 && none) || pack < packs;
  }
  HYBRID_DEVICE bool has(int row, int column) const {
    return (wholeRows || row < rowCount) && (wholeColumns || column < columnCount);
  }
  HYBRID_DEVICE static Element *place(Element *tile, int pack) {
    return tile + pack / (columns / wide) * Tile::stride + pack % (columns / wide) * wide;
  }
  HYBRID_DEVICE void read(Pack<T, wide> *part, int first) const {
    HYBRID_UNROLL
    for (int i = 0; i < atOnce; ++i) {
      const int pack = static_cast<int>(threadIdx.x) + (first + i) * threadCount;
      const int row = pack / (columns / wide), column = pack % (columns / wide) * wide;
      if (exists(pack) && has(row, column)) {
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
      if (exists(pack))
        storeElements(place(tile, pack), part[i]);
    }
  }
};

/// The begin of a warp's 32 x 32 of a tile.
template <int columnTile> HYBRID_DEVICE int rowOfWarp() {
  return warpIndex() / (columnTile / 32) * 32;
}
template <int columnTile> HYBRID_DEVICE int columnOfWarp() {
  return warpIndex() % (columnTile / 32) * 32;
}

constexpr StagedTile stagedTile(const RowsProductParams &p) {
  return {static_cast<int>(p.rowTile),
          static_cast<int>(p.columnTile),
          threads(p),
          static_cast<int>(rowsProductStagedStride(p)),
          p.wholeRows != 0,
          p.wholeColumns != 0,
          p.wholePacks != 0};
}

/// A tile of P.rowTile x P.columnTile sums of products of T, of rows of X and a weight of W in
/// global memory, `wide` elements of which are moved at once.
template <typename T, typename X, typename W, RowsProductParams P, int wide>
struct RowsTimesWeight : StagedSums<T, stagedTile(P)> {
  using Staged = StagedSums<T, stagedTile(P)>;
  using Staged::shared, Staged::rowCount, Staged::columnCount;
  static constexpr Products products = productsOf<T>(P.bf16);
  static constexpr int rowTile = static_cast<int>(P.rowTile),
                       columnTile = static_cast<int>(P.columnTile),
                       inputs = static_cast<int>(P.inputs), threadCount = threads(P),
                       depth = static_cast<int>(P.depth);
  static constexpr bool transposed = P.transposed != 0,
                        byMatrices = transposed && products == Products::Bf16;
  // Tiles of rows of x; of weights, rows are outputs, or inputs if transposed.
  static constexpr int rightRows = transposed ? depth : columnTile,
                       rightColumns = transposed ? columnTile : depth;
  using Left = TileProduct<products, T, depth>;
  using Right = TileProduct<products, T, rightColumns, 4>;
  using Element = typename Left::Element;
  static constexpr int leftElements = rowTile * Left::stride,
                       setElements = leftElements + rightRows * Right::stride;

  T sums[2][4][4] = {};

  /// shared: rowsProductShared() bytes.
  HYBRID_DEVICE RowsTimesWeight(T *shared, int rowCount, int columnCount)
      : Staged{shared, rowCount, columnCount} {}

  /// Adds the products of rows of x and of the weight, or columns of it if transposed. meanwhile():
  /// what else is loaded, behind the first tiles.
  template <typename Meanwhile>
  HYBRID_DEVICE void multiply(const X *x, int64_t xStride, const W *weight, int64_t weightStride,
                              Meanwhile meanwhile) {
    auto sum = [&](int i, int block) -> T(&)[4] { return sums[i][block]; };
    constexpr bool several = inputs > depth, many = inputs > 2 * depth,
                   wholeDepth = inputs % depth == 0, wholeOutputs = P.wholeColumns != 0;
    TileInFlight<X, Left, rowTile, depth, wide, threadCount, several, P.wholeRows != 0, wholeDepth>
        left;
    TileInFlight<W, Right, rightRows, rightColumns, wide, threadCount, several,
                 transposed ? wholeDepth : wholeOutputs, transposed ? wholeOutputs : wholeDepth>
        right;
    auto *sets = reinterpret_cast<Element *>(shared);
    auto start = [&](int set, int k) {
      left.start(sets + set * setElements, x + k, xStride, rowCount, inputs - k);
      Element *rightTile = sets + set * setElements + leftElements;
      if constexpr (transposed)
        right.start(rightTile, weight + k * weightStride, weightStride, inputs - k, columnCount);
      else
        right.start(rightTile, weight + k, weightStride, columnCount, inputs - k);
      commitCopies();
    };
    auto finish = [&](int set) {
      left.finish(sets + set * setElements);
      right.finish(sets + set * setElements + leftElements);
    };
    auto product = [&](int set) {
      const Element *leftTile = sets + set * setElements, *rightTile = leftTile + leftElements;
      if constexpr (byMatrices)
        multiplyMatrices<false, depth>(sums, leftTile + rowOfWarp<columnTile>() * Left::stride,
                                       Left::stride, rightTile + columnOfWarp<columnTile>(),
                                       Right::stride);
      else if constexpr (transposed)
        Right::template rowsTimesRows<2, 4, depth>(
            sum, leftTile + rowOfWarp<columnTile>() * Left::stride,
            rightTile + columnOfWarp<columnTile>());
      else
        Left::template alongColumns<2, 4>(sum, leftTile + rowOfWarp<columnTile>() * Left::stride,
                                          rightTile + columnOfWarp<columnTile>() * Right::stride);
    };
    int set = 0;
    start(0, 0);
    if constexpr (decltype(left)::copies && decltype(right)::copies) {
      // Two are on their way at a time, so that the second is not waited for after the first.
      if constexpr (several)
        start(1, depth);
      meanwhile();
      HYBRID_NO_UNROLL
      for (int k = 0; k < inputs; k += depth) {
        if (k + depth < inputs)
          waitCopies<1>();
        else
          waitCopies<0>();
        blockBarrier();
        product(set);
        if constexpr (many)
          if (k + 2 * depth < inputs) {
            blockBarrier(); // all have multiplied what is replaced
            start(set, k + 2 * depth);
          }
        set = 1 - set;
      }
    } else {
      meanwhile();
      finish(0);
      HYBRID_NO_UNROLL
      for (int k = 0; k < inputs; k += depth) {
        waitCopies<0>();
        blockBarrier();
        const bool more = k + depth < inputs;
        if (more)
          start(1 - set, k + depth);
        product(set);
        set = 1 - set;
        if (more)
          finish(set);
      }
    }
    blockBarrier(); // before sums lie where the tiles did
  }

  /// Stores the tile.
  template <typename Store>
  HYBRID_DEVICE void store(const Store &write, int64_t firstRow, int64_t firstColumn,
                           typename Staged::template Ahead<Store> &operands) const {
    Staged::store(write, firstRow, firstColumn, operands, [this] { stage(); });
  }

private:
  HYBRID_DEVICE void stage() const {
    const int g = rowOfLane(), t = columnOfLane();
    HYBRID_UNROLL
    for (int i = 0; i < 2; ++i)
      HYBRID_UNROLL
    for (int upper = 0; upper < 2; ++upper) {
      T *row = shared + (rowOfWarp<columnTile>() + i * 16 + g + upper * 8) * Staged::stride +
               columnOfWarp<columnTile>();
      // Columns of a fragment are in the order of the product that made it.
      if constexpr (transposed && !byMatrices && Right::adjacent == 4) {
        HYBRID_UNROLL
        for (int odd = 0; odd < 2; ++odd) {
          Pack<T, 4> four;
          HYBRID_UNROLL
          for (int block = 0; block < 4; ++block)
            four[block] = sums[i][block][2 * upper + odd];
          storePack(row + Right::columnOf(0, 2 * t + odd), four);
        }
      } else {
        HYBRID_UNROLL
        for (int block = 0; block < 4; ++block)
          HYBRID_UNROLL
        for (int odd = 0; odd < 2; ++odd) {
          const int c = 2 * t + odd;
          row[transposed && !byMatrices ? Right::columnOf(block, c) : block * 8 + c] =
              sums[i][block][2 * upper + odd];
        }
      }
    }
  }
};

} // namespace hybrid::cuda
