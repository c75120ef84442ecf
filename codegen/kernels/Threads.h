//===- Threads.h - sizes of blocks that several CUDA kernels have -----------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid::cuda {

/// Threads for a row of `columns`: about four elements each, from a warp to eight.
constexpr int64_t rowThreads(int64_t columns) {
  int64_t warps = ceilDiv(columns, 128);
  return 32 * (warps < 1 ? 1 : warps > 8 ? 8 : warps);
}
/// A block a row, with room for a sum of each warp.
template <typename T> constexpr Grid rowGrid(int64_t rows, int64_t columns) {
  const int64_t threads = rowThreads(columns);
  return {rows, threads, threads / 32 * static_cast<int64_t>(sizeof(T))};
}

/// A warp a row, several in a block.
constexpr int64_t warpRows = 8;
constexpr Grid warpGrid(int64_t rows) { return {ceilDiv(rows, warpRows), 32 * warpRows}; }

/// Backward passes of norms: eight warps, each with rows of its own up to 512 columns (RowGroups in
/// cuda/Norm.cuh); behind that the whole block has one.
constexpr int64_t normBackwardThreads(int64_t columns) { return columns <= 8192 ? 256 : 512; }
/// With room for the sums of a block, or the partial sums of eight warps.
template <typename T> constexpr Grid normBackwardGrid(int64_t items, int64_t columns) {
  const int64_t warps = normBackwardThreads(columns) / 32;
  return {items, 32 * warps,
          (columns <= 512 ? warps * columns : warps) * static_cast<int64_t>(sizeof(T))};
}

/// Kernels that sum or update a stretch of memory; bytes for a sum in double of every warp.
constexpr int64_t sumThreads = 256, sumShared = sumThreads / 32 * 8;

} // namespace hybrid::cuda
