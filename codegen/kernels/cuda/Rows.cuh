//===- Rows.cuh - rows that share a block -----------------------------------===//
//
// Where rows are short, lanes of a warp have one, and a block has many: what a team sums is
// exchanged within a warp. Teams of a warp go in step, also those that have no row left, which must
// not write.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// `size` threads of a block of `threads` that have a row together.
template <int64_t threads, int64_t size> struct RowTeam {
  static constexpr int count = static_cast<int>(threads / size);

  HYBRID_DEVICE static int thread() {
    return static_cast<int>(threadIdx.x) % static_cast<int>(size);
  }
  HYBRID_DEVICE static int number() {
    return static_cast<int>(threadIdx.x) / static_cast<int>(size);
  }
  /// In every thread of the team. `scratch`: shared memory for a T of each warp, which teams within
  /// a warp do not touch.
  template <typename T> HYBRID_DEVICE static T sum(T value, T *scratch) {
    if constexpr (size <= warpSize)
      return laneSum<static_cast<int>(size)>(value);
    else
      return blockSum<static_cast<int>(threads)>(value, scratch);
  }
  template <typename T> HYBRID_DEVICE static T max(T value, T *scratch) {
    if constexpr (size <= warpSize)
      return laneMax<static_cast<int>(size)>(value);
    else
      return blockMax<static_cast<int>(threads)>(value, scratch);
  }
};

/// Teams of rowGrid(): block `item` has the rows from item * count on.
template <int64_t columns> struct RowsOfBlock : RowTeam<rowBlock, threadsOfRow(columns)> {
  using Team = RowTeam<rowBlock, threadsOfRow(columns)>;
  HYBRID_DEVICE static int64_t row(int64_t item) { return item * Team::count + Team::number(); }
};

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

} // namespace hybrid::cuda
