//===- ProductChainWarps.cuh - products of what products made, by warps -------===//
//
// A warp has 32 rows, of the first products 32 x (chunk / columnWarps) and of the second 32 x
// (outputs / columnWarps). Results of the function pass shared memory, which the second products of
// other warps read and from which whole lines are saved.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/ProductChain.h"
#include "codegen/kernels/cuda/ProductChainFunction.cuh"
#include "codegen/kernels/cuda/RowsProduct.cuh"

namespace hybrid::cuda {

/// Sums of a warp's 32 rows and 8 * blocks columns.
template <int blocks> struct ChainSums {
  float at[2][blocks][4] = {};
};

using ChainLeft = MatrixOperands<2>;

/// A tile of `columns` columns in shared memory.
template <int64_t columns> struct ChainTileMemory {
  using Element = bf16;
  static constexpr int stride = static_cast<int>(columns) + 8;
};

template <ProductChainParams P> struct ProductChainWarps {
  static constexpr int rowTile = static_cast<int>(P.rowTile), chunk = static_cast<int>(P.chunk),
                       outputs = static_cast<int>(P.outputs), threadCount = threads(P),
                       columnWarps = static_cast<int>(P.columnWarps),
                       firstColumns = chunk / columnWarps, secondColumns = outputs / columnWarps,
                       firsts = static_cast<int>(P.firsts), seconds = static_cast<int>(P.seconds),
                       results = static_cast<int>(P.results);
  static constexpr bool wholeRows = P.rows % P.rowTile == 0;
  static constexpr ChainMemory memory{P, ChainMemory::rowPadding};
  using FirstSums = ChainSums<firstColumns / 8>;
  using SecondSums = ChainSums<secondColumns / 8>;

  bf16 *shared;
  int64_t firstRow;
  int rowCount;

  HYBRID_DEVICE explicit ProductChainWarps(int64_t item)
      : shared(sharedMemory<bf16>()), firstRow(item * rowTile),
        rowCount(static_cast<int>(minimum<int64_t>(rowTile, P.rows - firstRow))) {}

  static HYBRID_DEVICE int warpRow() { return warpIndex() / columnWarps * 32; }
  static HYBRID_DEVICE int warpColumn(int columns) { return warpIndex() % columnWarps * columns; }

  /// Begins to copy rows x columns of a matrix.
  template <int64_t rows, int64_t columns, bool whole>
  static HYBRID_DEVICE void copy(bf16 *tile, const bf16 *matrix, int64_t stride, int present) {
    TileInFlight<bf16, ChainTileMemory<columns>, static_cast<int>(rows), static_cast<int>(columns),
                 8, threadCount, true, whole, true>
        inFlight;
    inFlight.start(tile, matrix, stride, present, static_cast<int>(columns));
  }
  template <int i> HYBRID_DEVICE void copyInput(const bf16 *x) const {
    constexpr ChainTile tile = inputTile(P, i);
    constexpr int64_t stride = inputOf(P, i).stride;
    copy<tile.rows, tile.columns, wholeRows>(shared + memory.inputAt(i), x + firstRow * stride,
                                             stride, rowCount);
  }
  /// Weights of the columns from `column` on, into set `set`.
  HYBRID_DEVICE void copyWeights(int set, int column, const bf16 *const (&first)[3],
                                 const bf16 *const (&second)[2]) const {
    bf16 *to = shared + memory.setsAt() + set * memory.setElements();
    forEachOf<firsts>([&]<int i>() {
      constexpr ChainTile tile = firstTile(P, i);
      constexpr ChainFirst of = firstOf(P, i);
      copy<tile.rows, tile.columns, true>(to + memory.firstAt(i),
                                          first[i] + column * (of.transposed ? 1 : of.stride),
                                          of.stride, static_cast<int>(tile.rows));
    });
    forEachOf<seconds>([&]<int j>() {
      constexpr ChainTile tile = secondTile(P, j);
      constexpr ChainSecond of = secondOf(P, j);
      if constexpr (of.shared == 0)
        copy<tile.rows, tile.columns, true>(to + memory.secondAt(j),
                                            second[j] + column * (of.transposed ? of.stride : 1),
                                            of.stride, static_cast<int>(tile.rows));
    });
  }

  /// A warp's rows of the only input, in registers for all columns.
  static constexpr int steps = static_cast<int>(P.inputs0) / 16;
  static constexpr bool keepsRows = P.inputs1 == 0;
  struct Rows {
    ChainLeft at[keepsRows ? steps : 1];

    HYBRID_DEVICE void load(const ProductChainWarps &block) {
      constexpr int stride = static_cast<int>(P.inputs0) + 8;
      if constexpr (keepsRows)
        HYBRID_UNROLL
      for (int step = 0; step < steps; ++step)
        at[step].load(block.shared + memory.inputAt(0) + warpRow() * stride + step * 16, stride);
    }
  };

  /// A warp's part of the first products, `k` columns of the inputs on.
  template <int input>
  HYBRID_DEVICE void multiplyFirst(FirstSums (&sums)[firsts], const bf16 *set, int k,
                                   const ChainLeft &rows) const {
    forEachOf<firsts>([&]<int i>() {
      constexpr ChainFirst of = firstOf(P, i);
      if constexpr (of.input == input) {
        constexpr int stride = static_cast<int>(firstTile(P, i).columns) + 8;
        const bf16 *weight = set + memory.firstAt(i);
        if constexpr (of.transposed != 0)
          rows.template multiply<true>(sums[i].at, weight + k * stride + warpColumn(firstColumns),
                                       stride);
        else
          rows.template multiply<false>(sums[i].at, weight + warpColumn(firstColumns) * stride + k,
                                        stride);
      }
    });
  }
  HYBRID_DEVICE void multiplyFirst(FirstSums (&sums)[firsts], const bf16 *set,
                                   const Rows &kept) const {
    if constexpr (keepsRows) {
      HYBRID_UNROLL
      for (int step = 0; step < steps; ++step)
        multiplyFirst<0>(sums, set, step * 16, kept.at[step]);
    } else {
      forEachOf<2>([&]<int input>() {
        constexpr int inputs = static_cast<int>(inputOf(P, input).columns), stride = inputs + 8;
        const bf16 *tile = shared + memory.inputAt(input) + warpRow() * stride;
        HYBRID_NO_UNROLL
        for (int k = 0; k < inputs; k += 16) {
          ChainLeft rows;
          rows.load(tile + k, stride);
          multiplyFirst<input>(sums, set, k, rows);
        }
      });
    }
  }
  /// A warp's own columns of what the second products multiply: rounded sums are left operands as
  /// they lie in registers.
  static constexpr int ownSteps = firstColumns / 16;
  struct Own {
    ChainLeft at[seconds][ownSteps];
  };

  /// The function of a warp's first products, rounded, to the tiles of results and to `own`.
  template <typename Of>
  HYBRID_DEVICE void compute(const FirstSums (&sums)[firsts], Own &own) const {
    constexpr int stride = chunk + 8;
    const int lane = laneIndex(), g = lane / 4, t = lane % 4;
    auto *to = reinterpret_cast<uint32_t *>(shared + memory.resultsAt() + (warpRow() + g) * stride +
                                            warpColumn(firstColumns)) +
               t;
    HYBRID_UNROLL
    for (int i = 0; i < 2; ++i)
      HYBRID_UNROLL
    for (int block = 0; block < firstColumns / 8; ++block)
      HYBRID_UNROLL
    for (int half = 0; half < 2; ++half) {
      uint32_t words[results];
      roundedResults<Of, firsts>(
          words, [&](int k, int odd) { return sums[k].at[i][block][2 * half + odd]; });
      HYBRID_UNROLL
      for (int k = 0; k < results; ++k) {
        to[(k * static_cast<int>(memory.resultElements()) + (i * 16 + half * 8) * stride +
            block * 8) /
           2] = words[k];
        if (k < seconds)
          own.at[k][block / 2].words[i][block % 2 * 2 + half] = words[k];
      }
    }
  }
  /// A warp's part of the second products, of 16 columns of result j from `k` on.
  template <int j>
  HYBRID_DEVICE void multiplySecond(SecondSums &sums, const bf16 *set, int k,
                                    const ChainLeft &rows) const {
    constexpr ChainSecond of = secondOf(P, j);
    constexpr int stride = static_cast<int>(secondTile(P, j).columns) + 8;
    const bf16 *weight = set + memory.secondAt(j);
    if constexpr (of.transposed != 0)
      rows.template multiply<true>(sums.at, weight + k * stride + warpColumn(secondColumns),
                                   stride);
    else
      rows.template multiply<false>(sums.at, weight + warpColumn(secondColumns) * stride + k,
                                    stride);
  }
  /// Of a warp's own columns.
  HYBRID_DEVICE void multiplyOwn(SecondSums &sums, const bf16 *set, const Own &own) const {
    HYBRID_UNROLL
    for (int step = 0; step < ownSteps; ++step)
      forEachOf<seconds>([&]<int j>() {
        multiplySecond<j>(sums, set, warpColumn(firstColumns) + step * 16, own.at[j][step]);
      });
  }
  /// Of those of the warps beside it.
  HYBRID_DEVICE void multiplyOthers(SecondSums &sums, const bf16 *set) const {
    constexpr int leftStride = chunk + 8;
    const bf16 *left = shared + memory.resultsAt() + warpRow() * leftStride;
    HYBRID_NO_UNROLL
    for (int n = firstColumns; n < chunk; n += 16) {
      const int k = (warpColumn(firstColumns) + n) % chunk;
      forEachOf<seconds>([&]<int j>() {
        ChainLeft rows;
        rows.load(left + j * static_cast<int>(memory.resultElements()) + k, leftStride);
        multiplySecond<j>(sums, set, k, rows);
      });
    }
  }
  /// Whole rows of a result's columns, from shared memory.
  HYBRID_DEVICE void save(int column, bf16 *const (&saved)[3]) const {
    forEachOf<results>([&]<int k>() {
      constexpr int64_t stride = savedStrideOf(P, k);
      if constexpr (stride != 0) {
        constexpr int packs = chunk / 8, each = rowTile * packs / threadCount;
        static_assert(rowTile * packs % threadCount == 0);
        const bf16 *from = shared + memory.resultsAt() + k * memory.resultElements();
        HYBRID_UNROLL
        for (int n = 0; n < each; ++n) {
          const int pack = static_cast<int>(threadIdx.x) + n * threadCount, row = pack / packs,
                    at = pack % packs * 8;
          if (wholeRows || row < rowCount)
            storeGlobal(saved[k] + (firstRow + row) * stride + column + at,
                        loadPack<8>(from + row * (chunk + 8) + at));
        }
      }
    });
  }

  /// All of a block's sums. The function is that of `Of`.
  template <typename Of>
  HYBRID_DEVICE void multiply(SecondSums &sums, const bf16 *x0, const bf16 *x1,
                              const bf16 *const (&first)[3], const bf16 *const (&second)[2],
                              bf16 *const (&saved)[3]) const {
    copyInput<0>(x0);
    if constexpr (P.inputs1 != 0)
      copyInput<1>(x1);
    copyWeights(0, 0, first, second);
    commitCopies();
    Rows rows;
    constexpr int inner = static_cast<int>(P.inner);
    int set = 0;
    HYBRID_NO_UNROLL
    for (int column = 0; column < inner; column += chunk) {
      waitCopies<0>();
      blockBarrier(); // and all have read the last columns' weights and results
      if (column + chunk < inner) {
        copyWeights(1 - set, column + chunk, first, second);
        commitCopies();
      }
      const bf16 *weights = shared + memory.setsAt() + set * memory.setElements();
      FirstSums products[firsts];
      if (column == 0)
        rows.load(*this);
      multiplyFirst(products, weights, rows);
      Own own;
      compute<Of>(products, own);
      multiplyOwn(sums, weights, own);
      blockBarrier();
      save(column, saved);
      multiplyOthers(sums, weights);
      set = 1 - set;
    }
  }
  /// A warp's sums to a tile whose rows are `stride` elements apart.
  static HYBRID_DEVICE void stage(const SecondSums &sums, float *tile, int stride) {
    float *to =
        tile + (warpRow() + rowOfLane()) * stride + warpColumn(secondColumns) + 2 * columnOfLane();
    HYBRID_UNROLL
    for (int i = 0; i < 2; ++i)
      HYBRID_UNROLL
    for (int block = 0; block < secondColumns / 8; ++block)
      HYBRID_UNROLL
    for (int half = 0; half < 2; ++half)
      storePack(to + (i * 16 + half * 8) * stride + block * 8,
                Pack<float, 2>{{sums.at[i][block][2 * half], sums.at[i][block][2 * half + 1]}});
  }
};

} // namespace hybrid::cuda
