//===- Embedding.cuh - rows of a table, and the gradient of the table -------===//
#pragma once
#include "codegen/kernels/Embedding.h"
#include "codegen/kernels/cuda/Rows.cuh"

namespace hybrid::cuda {

template <typename T, EmbeddingParams P, typename Store>
HYBRID_DEVICE void embeddingForward(int64_t item, const T *table, const int32_t *ids, Store store) {
  using Rows = RowsOfItem<P.columns, P.rowsPerItem>;
  const int64_t row = Rows::row(item, P.rows);
  if (row >= P.rows)
    return;
  const int64_t id = ids[row];
  const bool known = id >= 0 && id < P.classes;
  for (int64_t column = Rows::thread(); column < P.columns; column += threadsOfRow(P.columns))
    store(row, column, known ? table[id * P.columns + column] : notANumber<T>());
}

/// A block looks through a stretch of the ids for its class and adds up the rows it finds, in
/// order: no atomics, and each row of dy is read once. Partial tables are summed afterwards.
template <typename T, EmbeddingGradParams P>
HYBRID_DEVICE void embeddingBackward(int64_t item, const int32_t *ids, const T *dy, T *partial) {
  constexpr int threads = static_cast<int>(embeddingGradThreads);
  constexpr int64_t perThread = ceilDiv(P.columns, threads);
  const int64_t wanted = item % P.classes, part = item / P.classes;
  const int64_t begin = part * P.rowsPerPart, end = minimum(begin + P.rowsPerPart, P.rows);
  int32_t *found = sharedMemory<int32_t>(), *counts = found + threads;
  T sums[perThread];
  HYBRID_UNROLL
  for (int i = 0; i < perThread; ++i)
    sums[i] = 0;
  for (int64_t first = begin; first < end; first += threads) {
    // The threads whose row is wanted write it down, in the order of rows.
    const int64_t row = first + threadIdx.x;
    const bool match = row < end && ids[row] == wanted;
    const uint32_t matches = ballot(match);
    if (laneIndex() == 0)
      counts[warpIndex()] = populationCount(matches);
    blockBarrier();
    int before = 0, total = 0;
    HYBRID_UNROLL
    for (int warp = 0; warp < threads / warpSize; ++warp) {
      before += warp < warpIndex() ? counts[warp] : 0;
      total += counts[warp];
    }
    if (match)
      found[before + populationCount(matches & ((1u << laneIndex()) - 1))] =
          static_cast<int32_t>(row - begin);
    blockBarrier();
    for (int k = 0; k < total; ++k) {
      const T *source = dy + (begin + found[k]) * P.dyStride;
      HYBRID_UNROLL
      for (int i = 0; i < perThread; ++i) {
        int64_t column = threadIdx.x + i * threads;
        if (column < P.columns)
          sums[i] += source[column];
      }
    }
  }
  HYBRID_UNROLL
  for (int i = 0; i < perThread; ++i) {
    int64_t column = threadIdx.x + i * threads;
    if (column < P.columns)
      partial[item * P.columns + column] = sums[i];
  }
}

} // namespace hybrid::cuda
