//===- SumPartials.h - contract of sums of partial results ------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// width: columns of a row of the result, as who reads it sees it; all rows have `columns`.
struct SumPartialsParams {
  int64_t count, columns, stride, width, yStride;
  HYBRID_FIELDS(count, columns, stride, width, yStride)
};

namespace cuda {
constexpr int64_t sumPartialsThreads = 256;
/// Threads along the partial rows, of which the others have a column each: as many as fit beside a
/// sector, but not more than there are rows, nor where columns alone make enough blocks.
template <typename T> constexpr int64_t sumPartialsRows(const SumPartialsParams &p) {
  constexpr int64_t enoughBlocks = 4 * gridProcessors;
  int64_t rows = sumPartialsThreads / lanes<T>;
  while (rows > 1 &&
         (rows / 2 >= p.count || ceilDiv(p.columns, sumPartialsThreads / rows) > enoughBlocks))
    rows /= 2;
  return rows;
}
template <typename T> constexpr Grid sumPartialsGrid(const SumPartialsParams &p) {
  const int64_t rows = sumPartialsRows<T>(p);
  return {ceilDiv(p.columns, sumPartialsThreads / rows), sumPartialsThreads,
          rows > 1 ? sumPartialsThreads * static_cast<int64_t>(sizeof(T)) : 0};
}
} // namespace cuda

/// y[j] = sum over i of partial[i*stride + j], pairwise in i. Buffers: partial, y, a store, dense
/// on a CPU. An item is some neighbouring columns.
struct SumPartials : KernelOf<SumPartialsParams, "sum_partials"> {
  static constexpr bool isBrief = true;
  HYBRID_ON_CPU(ceilDiv(p.columns, lanes<T>))
  HYBRID_ON_CUDA(cuda::sumPartialsGrid<T>(p))
};

} // namespace hybrid
