//===- ProductChainWarpgroups.cuh - chains of products by warpgroups ----------===//
//
// A warpgroup has 64 rows and all columns, a warp 16 rows of them: rounded results of the function
// are left operands of the second products as they lie in registers, and nobody else needs them.
// Tiles are read by matrix units, once for the four warps of a group.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/ProductChain.h"
#include "codegen/kernels/cuda/ProductChainFunction.cuh"
#include "codegen/kernels/cuda/TileProduct.cuh"
#include "codegen/kernels/cuda/WarpgroupTile.cuh"

namespace hybrid::cuda {

/// Sums of a warp's 16 rows and some columns. Not cleared: a first product does not read them.
template <int columns> struct WarpgroupSums {
  float at[columns / 8][4];
};

template <ProductChainParams P> struct ProductChainWarpgroups {
  static constexpr int rowTile = static_cast<int>(P.rowTile), chunk = static_cast<int>(P.chunk),
                       outputs = static_cast<int>(P.outputs), threadCount = threads(P),
                       firsts = static_cast<int>(P.firsts), seconds = static_cast<int>(P.seconds),
                       results = static_cast<int>(P.results), depth = 16, steps = chunk / depth;
  static constexpr bool wholeRows = P.rows % P.rowTile == 0;
  static constexpr ChainMemory memory{P, 0};
  static_assert(threadCount == rowTile * 2);
  using FirstSums = WarpgroupSums<chunk>;
  using SecondSums = WarpgroupSums<outputs>;
  template <ChainTile tile>
  using Tile = WarpgroupTile<static_cast<int>(tile.rows), static_cast<int>(tile.columns)>;

  bf16 *shared;
  uint32_t place; // of that, for descriptors
  int64_t firstRow;
  int rowCount;

  HYBRID_DEVICE explicit ProductChainWarpgroups(int64_t item)
      : shared(sharedMemory<bf16>()), place(placeForWarpgroups(shared)), firstRow(item * rowTile),
        rowCount(static_cast<int>(minimum<int64_t>(rowTile, P.rows - firstRow))) {}

  static HYBRID_DEVICE int warpRow() { return warpIndex() * 16; }
  /// 16 bytes each.
  static constexpr uint32_t unitsOf(int64_t elements) {
    return static_cast<uint32_t>(elements / 8);
  }

  template <int i> HYBRID_DEVICE void copyInput(const bf16 *x) const {
    constexpr int64_t stride = inputOf(P, i).stride;
    Tile<inputTile(P, i)>::template copy<threadCount, wholeRows>(
        shared + memory.inputAt(i), x + firstRow * stride, stride, rowCount);
  }
  /// Weights of the columns from `column` on, into set `set`.
  HYBRID_DEVICE void copyWeights(int set, int column, const bf16 *const (&first)[3],
                                 const bf16 *const (&second)[2]) const {
    bf16 *to = shared + memory.setsAt() + set * memory.setElements();
    forEachOf<firsts>([&]<int i>() {
      constexpr ChainFirst of = firstOf(P, i);
      Tile<firstTile(P, i)>::template copy<threadCount, true>(
          to + memory.firstAt(i), first[i] + column * (of.transposed ? 1 : of.stride), of.stride,
          0);
    });
    forEachOf<seconds>([&]<int j>() {
      constexpr ChainSecond of = secondOf(P, j);
      if constexpr (of.shared == 0)
        Tile<secondTile(P, j)>::template copy<threadCount, true>(
            to + memory.secondAt(j), second[j] + column * (of.transposed ? of.stride : 1),
            of.stride, 0);
    });
  }

  /// A warp's rows of the first input, in registers for all columns where they are few: matrix
  /// units would read them from shared memory for each product anew.
  static constexpr int rowSteps = static_cast<int>(P.inputs0) / depth;
  static constexpr bool keepsRows = rowSteps <= 8;
  struct Rows {
    uint32_t words[keepsRows ? rowSteps : 1][4];

    HYBRID_DEVICE void load(const bf16 *input) {
      HYBRID_UNROLL
      for (int step = 0; step < rowSteps; ++step) {
        Tile<inputTile(P, 0)>::load(words[step], input, warpRow(), step * depth);
        keepInOrder(words[step]);
      }
    }
  };

  /// Begins first product i of a warpgroup's rows.
  template <int i>
  HYBRID_DEVICE void multiplyFirst(FirstSums &sums, uint32_t set, const Rows &kept) const {
    constexpr ChainFirst of = firstOf(P, i);
    using Weight = Tile<firstTile(P, i)>;
    const uint32_t weight = set + unitsOf(memory.firstAt(i));
    forEachOf<static_cast<int>(inputOf(P, of.input).columns) / depth>([&]<int step>() {
      constexpr int k = step * depth;
      const uint64_t right =
          of.transposed ? Weight::alongRows(weight, k) : Weight::alongColumns(weight, 0, k);
      if constexpr (keepsRows && firstOf(P, i).input == 0)
        multiplyByWarpgroup<step != 0, of.transposed != 0>(sums.at, kept.words[step], right);
      else
        multiplyByWarpgroup<step != 0, of.transposed != 0>(
            sums.at,
            Tile<inputTile(P, of.input)>::alongColumns(place + unitsOf(memory.inputAt(of.input)),
                                                       warpRow() / 64 * 64, k),
            right);
    });
  }

  /// What a step of the second products multiplies, as left operands.
  struct Own {
    uint32_t words[seconds][4];
  };

  /// The function of a step's columns of a warp's first products, rounded; what is saved to shared
  /// memory, too.
  template <typename Of, int step>
  HYBRID_DEVICE void compute(const FirstSums (&sums)[firsts], Own &own) const {
    constexpr int stride = chunk + static_cast<int>(ChainMemory::rowPadding);
    auto *to = reinterpret_cast<uint32_t *>(shared + memory.resultsAt() +
                                            (warpRow() + rowOfLane()) * stride) +
               columnOfLane();
    HYBRID_UNROLL
    for (int right = 0; right < 2; ++right)
      HYBRID_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int block = 2 * step + right;
      uint32_t words[results];
      roundedResults<Of, firsts>(words,
                                 [&](int k, int odd) { return sums[k].at[block][2 * half + odd]; });
      forEachOf<results>([&]<int k>() {
        if constexpr (savedStrideOf(P, k) != 0)
          to[(k * static_cast<int>(memory.resultElements()) + half * 8 * stride + block * 8) / 2] =
              words[k];
        if constexpr (k < seconds)
          own.words[k][right * 2 + half] = words[k];
      });
    }
  }
  /// Begins a step of the second products.
  template <int step>
  HYBRID_DEVICE void multiplySecond(SecondSums &sums, uint32_t set, const Own &own) const {
    forEachOf<seconds>([&]<int j>() {
      constexpr ChainSecond of = secondOf(P, j);
      constexpr int k = step * depth;
      using Weight = Tile<secondTile(P, j)>;
      const uint32_t weight = set + unitsOf(memory.secondAt(j));
      multiplyByWarpgroup<true, of.transposed != 0>(
          sums.at, own.words[j],
          of.transposed ? Weight::alongRows(weight, k) : Weight::alongColumns(weight, 0, k));
    });
  }
  /// A warp's rows of results, whole lines of them, from shared memory.
  HYBRID_DEVICE void save(int column, bf16 *const (&saved)[3]) const {
    constexpr int packs = chunk / 8, rows = warpSize / packs; // at a time
    const int row = warpRow() + laneIndex() / packs, at = laneIndex() % packs * 8;
    forEachOf<results>([&]<int k>() {
      constexpr int64_t stride = savedStrideOf(P, k);
      if constexpr (stride != 0) {
        const bf16 *from = shared + memory.resultsAt() + k * memory.resultElements();
        HYBRID_UNROLL
        for (int down = 0; down < 16; down += rows)
          if (wholeRows || row + down < rowCount)
            storeGlobal(saved[k] + (firstRow + row + down) * stride + column + at,
                        loadPack<8>(from + (row + down) * (chunk + ChainMemory::rowPadding) + at));
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
    constexpr int inner = static_cast<int>(P.inner);
    Rows rows;
    int set = 0;
    HYBRID_NO_UNROLL
    for (int column = 0; column < inner; column += chunk) {
      waitCopies<0>();
      showToWarpgroups();
      blockBarrier(); // and all products of the last columns' weights are done
      if (column + chunk < inner) {
        copyWeights(1 - set, column + chunk, first, second);
        commitCopies();
      }
      const uint32_t weights = place + unitsOf(memory.setsAt()) +
                               static_cast<uint32_t>(set) * unitsOf(memory.setElements());
      if constexpr (keepsRows)
        if (column == 0)
          rows.load(shared + memory.inputAt(0));
      FirstSums products[firsts];
      beginWarpgroupProducts();
      forEachOf<firsts>([&]<int i>() { multiplyFirst<i>(products[i], weights, rows); });
      commitWarpgroupProducts();
      waitWarpgroupProducts<0>();
      HYBRID_UNROLL
      for (FirstSums &product : products)
        keepInOrder(product.at);
      keepInOrder(sums.at);
      // Matrix units multiply what a step has while the function of the next one is computed.
      Own own[steps];
      forEachOf<steps>([&]<int step>() {
        compute<Of, step>(products, own[step]);
        keepInOrder(own[step].words);
        beginWarpgroupProducts();
        multiplySecond<step>(sums, weights, own[step]);
      });
      commitWarpgroupProducts();
      warpBarrier();
      save(column, saved);
      waitWarpgroupProducts<0>();
      keepInOrder(sums.at);
      HYBRID_UNROLL
      for (Own &step : own)
        keepInOrder(step.words); // they were read to here
      set = 1 - set;
    }
  }
  /// A warp's sums to a tile whose rows are `stride` elements apart.
  static HYBRID_DEVICE void stage(const SecondSums &sums, float *tile, int stride) {
    float *to = tile + (warpRow() + rowOfLane()) * stride + 2 * columnOfLane();
    HYBRID_UNROLL
    for (int block = 0; block < outputs / 8; ++block)
      HYBRID_UNROLL
    for (int half = 0; half < 2; ++half)
      storePack(to + half * 8 * stride + block * 8,
                Pack<float, 2>{{sums.at[block][2 * half], sums.at[block][2 * half + 1]}});
  }
};

} // namespace hybrid::cuda
