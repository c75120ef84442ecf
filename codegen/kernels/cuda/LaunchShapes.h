//===- LaunchShapes.h - threads of blocks, for kernels and compiler ---------===//
//
// Of kernels whose constants are shared with the CPU (codegen/kernels/Kernels.h).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

/// Threads for a row of `columns`: about four elements each, from a warp to eight.
constexpr int64_t rowThreads(int64_t columns) {
  int64_t warps = ceilDiv(columns, 128);
  return 32 * (warps < 1 ? 1 : warps > 8 ? 8 : warps);
}

/// Backward passes of norms: eight warps, each with rows of its own up to 512 columns (RowGroups in
/// Norm.cuh); behind that the whole block has one.
constexpr int64_t normBackwardThreads(int64_t columns) { return columns <= 8192 ? 256 : 512; }
/// Elements: sums of a block, or the partial sums of eight warps.
constexpr int64_t normBackwardShared(int64_t columns) {
  return columns <= 512 ? normBackwardThreads(columns) / 32 * columns
                        : normBackwardThreads(columns) / 32;
}

/// Kernels that sum or update a stretch of memory.
constexpr int64_t sumThreads = 256;

/// 16 columns (8 of f64) side by side, as many threads as fit along the partial rows.
constexpr int64_t sumPartialsThreads = 256;

/// cross_entropy_forward: a warp a row where rows are short, otherwise the whole block.
constexpr int64_t crossEntropyThreads(const CrossEntropyParams &p) {
  return p.classes <= 1024 ? 128 : 256;
}
/// Bytes: three sums in double for every warp.
constexpr int64_t crossEntropyShared(int64_t threads) { return threads / 32 * 4 * 8; }

} // namespace hybrid::cuda
