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

/// Teams of rowGrid(), which has no more rows an item than teams.
template <int64_t columns, int64_t rowsPerItem>
struct RowsOfItem : RowTeam<rowItemThreads(columns, rowsPerItem), threadsOfRow(columns)> {
  using Team = RowTeam<rowItemThreads(columns, rowsPerItem), threadsOfRow(columns)>;
  /// The row of a thread, or `rows`, which is none: behind the last of all, or of the item.
  HYBRID_DEVICE static int64_t row(int64_t item, int64_t rows) {
    const int64_t own = item * rowsPerItem + Team::number();
    return Team::number() < rowsPerItem && own < rows ? own : rows;
  }
};

/// Elements that a thread moves together of rows of T, of which `alignment` divide everything.
template <typename T> constexpr int rowPack(int64_t alignment) {
  constexpr int most = 16 / static_cast<int>(sizeof(T));
  return alignment < most ? static_cast<int>(alignment) : most;
}

/// What a thread holds of a row: packs thread, thread + threads, ... of `width` neighbours.
template <typename T, int64_t columns, int64_t threads, int width> struct RowPart {
  static constexpr int packs = static_cast<int>(ceilDiv(columns, threads *width)),
                       count = packs * width;
  T values[count];

  HYBRID_DEVICE static int64_t column(int thread, int pack) {
    return (thread + pack * threads) * width;
  }
  HYBRID_DEVICE void clear() {
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i)
      values[i] = T(0);
  }
  /// As it lies in memory; 0 behind the row's end, and all of it if the row is not there. What
  /// turns it into numbers waits for it.
  template <typename Memory> struct Loaded {
    Pack<Memory, width> of[packs];
    HYBRID_DEVICE void load(int thread, const Memory *row, bool exists) {
      HYBRID_UNROLL
      for (int k = 0; k < packs; ++k)
        of[k] = exists && column(thread, k) < columns ? loadPack<width>(row + column(thread, k))
                                                      : Pack<Memory, width>{};
    }
  };
  template <typename Memory> HYBRID_DEVICE void take(const Loaded<Memory> &loaded) {
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i)
      values[i] = number(loaded.of[i / width][i % width]);
  }
  template <typename Memory>
  HYBRID_DEVICE void load(int thread, const Memory *row, bool exists = true) {
    Loaded<Memory> loaded;
    loaded.load(thread, row, exists);
    take(loaded);
  }
  /// What a store reads for this thread's columns of a row: on its way before sums over the row
  /// are known, unless it takes many registers.
  template <typename Store> struct Ahead {
    using Operands = NeighboursOperands<Store, width>;
    static constexpr bool holds = sizeof(Operands) * packs <= 64;
    Operands operands[packs];

    HYBRID_DEVICE void load(int thread, const Store &to, int64_t row) {
      HYBRID_UNROLL
      for (int k = 0; k < packs; ++k)
        if (column(thread, k) < columns)
          operands[k].load(to, row, column(thread, k));
    }
    HYBRID_DEVICE void loadEarly(int thread, const Store &to, int64_t row, bool exists) {
      if constexpr (holds)
        if (exists)
          load(thread, to, row);
    }
    /// Stores value(i) of what this thread holds.
    template <typename Value>
    HYBRID_DEVICE void store(int thread, const Store &to, int64_t row, Value value) {
      if constexpr (!holds)
        load(thread, to, row);
      HYBRID_UNROLL
      for (int k = 0; k < packs; ++k)
        if (column(thread, k) < columns) {
          Pack<T, width> pack;
          HYBRID_UNROLL
          for (int i = 0; i < width; ++i)
            pack[i] = value(k * width + i);
          operands[k].store(to, row, column(thread, k), pack);
        }
    }
  };
  /// use(column, i) for the columns this thread holds.
  template <typename Use> HYBRID_DEVICE static void each(int thread, Use use) {
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i)
      if (const int64_t at = column(thread, i / width) + i % width; at < columns)
        use(at, i);
  }
};

} // namespace hybrid::cuda
