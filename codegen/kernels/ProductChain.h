//===- ProductChain.h - contract of products of what products made ----------===//
//
// On CUDA, of bf16: what lies between two projections, as the inner width of a SwiGLU does, is a
// few times as wide as what goes in and comes out. A block has rows of it in shared memory, some
// columns at a time, and nothing of it is in memory but what others read.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// Products of up to two inputs with up to three weights, a function of their elements, and the sum
/// of the products of up to two of its results with weights of their own:
///
///   p_i = x_(i's input) first_i        [rows, inner]
///   r = f(p_0, p_1, ...)               element for element
///   y = sum over j of bf16(r_j) second_j   [rows, outputs]
///
/// A first weight is [inner, inputs], or transposed [inputs, inner]; a second one [outputs, inner],
/// or transposed [inner, outputs]. sharedJ: 1 + the first weight that is the same tile of memory, 0
/// if there is none. savedStrideK: elements from a row to the next of where result K is stored, 0
/// where it is not. chunk: columns of `inner` at a time; columnWarps: warps beside each
/// other; 2, too, where products may be by warpgroups (hasSizesOfWarpgroups()).
struct ProductChainParams {
  int64_t rows, inner, outputs, inputs0, inputs1, xStride0, xStride1;
  int64_t firsts, input0, input1, input2, transposed0, transposed1, transposed2;
  int64_t stride0, stride1, stride2;
  int64_t seconds, secondTransposed0, secondTransposed1, secondStride0, secondStride1;
  int64_t shared0, shared1;
  int64_t results, savedStride0, savedStride1, savedStride2, yStride;
  int64_t rowTile, chunk, columnWarps;
  HYBRID_FIELDS(rows, inner, outputs, inputs0, inputs1, xStride0, xStride1, firsts, input0, input1,
                input2, transposed0, transposed1, transposed2, stride0, stride1, stride2, seconds,
                secondTransposed0, secondTransposed1, secondStride0, secondStride1, shared0,
                shared1, results, savedStride0, savedStride1, savedStride2, yStride, rowTile, chunk,
                columnWarps)

  static constexpr int64_t mostInputs = 2, mostFirsts = 3, mostSeconds = 2, mostResults = 3;
};

namespace cuda {

constexpr int64_t productChainAlignment = 8; // elements: 16 bytes
/// Whether chains are faster than products one by one on a GPU of so much shared memory for a
/// block. By the model an A100 takes 5 % longer for a step of attention with SwiGLU, an H100 11 %
/// less.
constexpr bool paysProductChains(int64_t sharedBytes) { return hasMuchShared(sharedBytes); }

/// Number i of a few fields.
template <typename T> constexpr T &chosen(int64_t i, T &first, T &second) {
  return i == 0 ? first : second;
}
template <typename T> constexpr T &chosen(int64_t i, T &first, T &second, T &third) {
  return i == 2 ? third : chosen(i, first, second);
}
struct ChainInput {
  int64_t columns, stride;
};
constexpr ChainInput inputOf(const ProductChainParams &p, int64_t i) {
  return {chosen(i, p.inputs0, p.inputs1), chosen(i, p.xStride0, p.xStride1)};
}
struct ChainFirst {
  int64_t input, transposed, stride;
};
constexpr ChainFirst firstOf(const ProductChainParams &p, int64_t i) {
  return {chosen(i, p.input0, p.input1, p.input2),
          chosen(i, p.transposed0, p.transposed1, p.transposed2),
          chosen(i, p.stride0, p.stride1, p.stride2)};
}
struct ChainSecond {
  int64_t transposed, stride, shared;
};
constexpr ChainSecond secondOf(const ProductChainParams &p, int64_t j) {
  return {chosen(j, p.secondTransposed0, p.secondTransposed1),
          chosen(j, p.secondStride0, p.secondStride1), chosen(j, p.shared0, p.shared1)};
}
constexpr int64_t savedStrideOf(const ProductChainParams &p, int64_t k) {
  return chosen(k, p.savedStride0, p.savedStride1, p.savedStride2);
}

/// A matrix of bf16 in shared memory.
struct ChainTile {
  int64_t rows, columns;
};
constexpr ChainTile inputTile(const ProductChainParams &p, int64_t i) {
  return {p.rowTile, inputOf(p, i).columns};
}
constexpr ChainTile firstTile(const ProductChainParams &p, int64_t i) {
  const int64_t inputs = inputOf(p, firstOf(p, i).input).columns;
  return firstOf(p, i).transposed ? ChainTile{inputs, p.chunk} : ChainTile{p.chunk, inputs};
}
constexpr ChainTile secondTile(const ProductChainParams &p, int64_t j) {
  return secondOf(p, j).transposed ? ChainTile{p.chunk, p.outputs} : ChainTile{p.outputs, p.chunk};
}

/// Where things lie in shared memory, in elements: inputs; two sets of weights, one to compute with
/// while the other is filled; results of the function. At the end the sums lie there instead.
struct ChainMemory {
  ProductChainParams p;
  int64_t padding; ///< elements between rows of inputs and weights

  /// 16 bytes more than the columns keep rows out of each other's banks.
  static constexpr int64_t rowPadding = 8;
  constexpr int64_t elements(ChainTile tile) const { return tile.rows * (tile.columns + padding); }
  constexpr int64_t resultElements() const { return p.rowTile * (p.chunk + rowPadding); }
  constexpr int64_t inputAt(int64_t i) const { return i == 0 ? 0 : elements(inputTile(p, 0)); }
  constexpr int64_t setsAt() const {
    return inputAt(1) + (p.inputs1 ? elements(inputTile(p, 1)) : 0);
  }
  /// In a set.
  constexpr int64_t firstAt(int64_t i) const {
    int64_t at = 0;
    for (int64_t before = 0; before < i; ++before)
      at += elements(firstTile(p, before));
    return at;
  }
  constexpr int64_t secondAt(int64_t j) const {
    if (j < p.seconds && secondOf(p, j).shared)
      return firstAt(secondOf(p, j).shared - 1);
    int64_t at = firstAt(p.firsts);
    for (int64_t before = 0; before < j; ++before)
      if (!secondOf(p, before).shared)
        at += elements(secondTile(p, before));
    return at;
  }
  constexpr int64_t setElements() const { return secondAt(p.seconds); }
  constexpr int64_t resultsAt() const { return setsAt() + 2 * setElements(); }
};
constexpr int64_t chainStagedStride(const ProductChainParams &p) { return p.outputs + 8; }
constexpr int64_t productChainShared(const ProductChainParams &p) {
  const ChainMemory memory{p, ChainMemory::rowPadding}; // without it there is less
  const int64_t tiles = 2 * (memory.resultsAt() + p.results * memory.resultElements()),
                staged = 4 * p.rowTile * chainStagedStride(p);
  return tiles < staged ? staged : tiles;
}
/// Whether the sizes are those of warpgroups' products: tiles of 64 columns, and as many rows for
/// each warpgroup.
constexpr bool hasSizesOfWarpgroups(const ProductChainParams &p) {
  return p.rowTile % 64 == 0 && p.chunk == 64 && p.columnWarps == 2 && p.inputs0 % 64 == 0 &&
         p.inputs1 % 64 == 0 && (p.outputs == 64 || p.outputs == 128);
}
/// A warp has 32 rows of some columns; of a warpgroup, 16 of all.
constexpr int threads(const ProductChainParams &p) {
  return static_cast<int>(p.rowTile * p.columnWarps);
}

} // namespace cuda

/// How the work is divided, in the shared memory that a block may have; a row tile of 0 for sizes
/// that no block computes, or where none has room. Blocks read all weights each, so rows are many
/// where that leaves most multiprocessors one.
struct ProductChainTiles {
  template <typename T>
  static constexpr ProductChainParams onCuda(ProductChainParams p, int64_t sharedBytes) {
    const bool isWhole = p.inputs0 % 16 == 0 && p.inputs1 % 16 == 0 && p.inner % 32 == 0 &&
                         (p.outputs == 32 || p.outputs == 64 || p.outputs == 128);
    for (p.rowTile = 128; isWhole && p.rowTile >= 32; p.rowTile /= 2) {
      if (p.rowTile > 32 && ceilDiv(p.rows, p.rowTile) < 100)
        continue;
      for (p.chunk = 64; p.chunk >= 32; p.chunk /= 2) {
        // More warps hide more of what each waits for, where none has its rows in registers for
        // all columns. Products of warpgroups are waited for less.
        const bool isWide = p.chunk == 64 && p.outputs > 32;
        p.columnWarps = 2;
        if (isWide && (p.rowTile < 128 || p.inputs1 != 0) && !cuda::hasSizesOfWarpgroups(p))
          p.columnWarps = 4;
        if (p.inner % p.chunk == 0 && cuda::productChainShared(p) <= sharedBytes)
          return p;
      }
    }
    p.rowTile = 0;
    return p;
  }
};

/// Buffers: two inputs, three first and two second weights, all bf16 in memory, three results,
/// those there are; y, a store. An item is a tile of rows. Calls the function.
struct ProductChain : KernelOf<ProductChainParams, "product_chain", 7, 8, 9> {
  HYBRID_ACTIVATIONS(10)
  HYBRID_ON_CUDA(ceilDiv(p.rows, p.rowTile), cuda::threads(p), cuda::productChainShared(p))
  HYBRID_STORES_ROWS(p.rows % p.rowTile == 0)
};

} // namespace hybrid
