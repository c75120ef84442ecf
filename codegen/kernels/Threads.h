//===- Threads.h - sizes of blocks that several CUDA kernels have -----------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid::cuda {

/// Whether a GPU has much shared memory for a block, as an H100 (227 KiB), and not an A100 (163
/// KiB).
constexpr bool hasMuchShared(int64_t bytes) { return bytes >= 200 << 10; }

/// Multiprocessors of the GPU that grids are made for: an H200.
constexpr int64_t gridProcessors = 132;

/// Threads for a row of `columns`: about four elements each, from a warp to eight.
constexpr int64_t rowThreads(int64_t columns) {
  int64_t warps = ceilDiv(columns, 128);
  return 32 * (warps < 1 ? 1 : warps > 8 ? 8 : warps);
}
/// Threads that share a row: lanes of a warp, about four elements each, up to 1024 columns; of a
/// longer row a whole block. Blocks of a lane or two, or of one warp, would take as long to begin
/// as to compute: a GPU begins about one in 1.2 ns.
constexpr int64_t rowBlock = 256, longestWarpRow = 1024;
constexpr int64_t threadsOfRow(int64_t columns, int64_t longest = longestWarpRow,
                               int64_t block = rowBlock) {
  int64_t threads = 1;
  while (threads < 32 && threads * 4 < columns)
    threads *= 2;
  return columns <= longest ? threads : block;
}
/// Rows that a block's threads take at once.
constexpr int64_t rowsOfBlock(int64_t columns) { return rowBlock / threadsOfRow(columns); }
/// Threads for an item of fewer rows: whole warps.
constexpr int64_t rowItemThreads(int64_t columns, int64_t rowsPerItem) {
  const int64_t threads = threadsOfRow(columns) * rowsPerItem;
  return threads < 32 ? 32 : threads < rowBlock ? ceilDiv(threads, 32) * 32 : rowBlock;
}
/// Blocks of so many rows, with room for a sum of each warp.
template <typename T> constexpr Grid rowGrid(int64_t rows, int64_t columns, int64_t rowsPerItem) {
  const int64_t threads = rowItemThreads(columns, rowsPerItem);
  return {ceilDiv(rows, rowsPerItem), threads,
          columns <= longestWarpRow ? 0 : threads / 32 * static_cast<int64_t>(sizeof(T))};
}

/// A warp a row, several in a block.
constexpr int64_t warpRows = 8;
constexpr Grid warpGrid(int64_t rows) { return {ceilDiv(rows, warpRows), 32 * warpRows}; }

/// Backward passes of norms: rows of up to 512 columns have lanes of their own, longer ones the
/// block (RowTeam in cuda/Rows.cuh).
constexpr int64_t normBackwardThreads(int64_t columns) { return columns <= 8192 ? 256 : 512; }
constexpr int64_t normBackwardTeam(int64_t columns) {
  return threadsOfRow(columns, 512, normBackwardThreads(columns));
}
/// With room for the sums of a block, or the partial sums of all teams.
template <typename T> constexpr Grid normBackwardGrid(int64_t items, int64_t columns) {
  const int64_t threads = normBackwardThreads(columns), teams = threads / normBackwardTeam(columns);
  return {items, threads,
          (teams > 1 ? teams * columns : threads / 32) * static_cast<int64_t>(sizeof(T))};
}

/// Kernels that sum or update a stretch of memory; bytes for a sum in double of every warp.
constexpr int64_t sumThreads = 256, sumShared = sumThreads / 32 * 8;

} // namespace hybrid::cuda
