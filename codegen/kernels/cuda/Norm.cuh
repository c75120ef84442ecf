//===- Norm.cuh - norms over the channels of a row --------------------------===//
//
// Forward: a block a row, the row in registers. Backward: a block a group of rows; where a row is
// short each warp has rows of its own, and the sums for the weights meet in shared memory at the
// end. Bound by memory: every element is read once and written once.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// What a thread holds of a row: columns thread, thread + threads, ...
template <typename T, int64_t columns, int64_t threads> struct RowPart {
  static constexpr int count = static_cast<int>(ceilDiv(columns, threads));
  T values[count];

  template <typename Read> HYBRID_DEVICE void fill(int thread, Read read) {
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i) {
      int64_t column = thread + i * threads;
      values[i] = column < columns ? read(column) : T(0);
    }
  }
  /// write(column, i) for the columns this thread holds.
  template <typename Write> HYBRID_DEVICE static void each(int thread, Write write) {
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i) {
      int64_t column = thread + i * threads;
      if (column < columns)
        write(column, i);
    }
  }
};

/// How rows share the threads of a block in a backward pass of `columns`.
template <int64_t columns> struct RowGroups {
  static constexpr bool byWarp = columns <= 512;
  static constexpr int threads = static_cast<int>(normBackwardThreads(columns));
  static constexpr int threadsOfRow = byWarp ? warpSize : threads;
  static constexpr int groups = threads / threadsOfRow;

  template <typename T> HYBRID_DEVICE static T sum(T value) {
    if constexpr (byWarp)
      return warpSum(value);
    else
      return blockSum<threads>(value, sharedMemory<T>());
  }
  /// out[column] = Σ over groups of each thread's values, groups in order.
  template <typename T, typename Part>
  HYBRID_DEVICE static void addUp(const Part &part, int group, int thread, T *out) {
    if constexpr (groups == 1) {
      Part::each(thread, [&](int64_t column, int i) { out[column] = part.values[i]; });
    } else {
      T *shared = sharedMemory<T>();
      blockBarrier();
      Part::each(thread,
                 [&](int64_t column, int i) { shared[group * columns + column] = part.values[i]; });
      blockBarrier();
      for (int64_t column = threadIdx.x; column < columns; column += threads) {
        T total = 0;
        for (int g = 0; g < groups; ++g)
          total += shared[g * columns + column];
        out[column] = total;
      }
    }
  }
};

} // namespace hybrid::cuda
