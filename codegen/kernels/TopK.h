//===- TopK.h - contract of the places of the largest values ----------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// Places of the k largest of each row, lowest index first among equals, NaN last. alignment:
/// elements that are moved together, which divide the columns, the stride and where x begins.
struct TopKParams {
  int64_t rows, columns, k, xStride, alignment;
  HYBRID_FIELDS(rows, columns, k, xStride, alignment)
};

namespace cuda {

/// A thread has a row of few columns in registers: a warp would exchange more than it compares.
constexpr bool topKByThreads(const TopKParams &p) { return p.columns <= 32; }
/// Few, so that the rows of a batch are on all multiprocessors.
constexpr int64_t topKThreads = 128;
constexpr Grid topKGrid(const TopKParams &p) {
  return topKByThreads(p) ? Grid{ceilDiv(p.rows, topKThreads), topKThreads} : warpGrid(p.rows);
}

} // namespace cuda

/// Buffers: x [rows, columns], indices (int32 [rows, k]). An item is a row, on CUDA a row a thread
/// or a warp.
struct TopK : KernelOf<TopKParams, "top_k", 1> {
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(cuda::topKGrid(p))
};

} // namespace hybrid
