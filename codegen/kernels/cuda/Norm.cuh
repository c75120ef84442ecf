//===- Norm.cuh - norms over the channels of a row --------------------------===//
//
// Forward: the row in registers of the threads that share it. Backward: a block a group of rows,
// which its teams take in turns; the sums for the weights meet in shared memory at the end. Bound
// by memory: every element is read once and written once.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/Rows.cuh"

namespace hybrid::cuda {

/// How rows share the threads of a block in a backward pass of `columns`, `width` of which a thread
/// moves together.
template <int64_t columns, int width>
struct NormTeam : RowTeam<normBackwardThreads(columns), normBackwardTeam(columns)> {
  using Team = RowTeam<normBackwardThreads(columns), normBackwardTeam(columns)>;
  template <typename T> using Part = RowPart<T, columns, normBackwardTeam(columns), width>;

  template <typename T> HYBRID_DEVICE static T sum(T value) {
    return Team::sum(value, sharedMemory<T>());
  }
  /// What a thread reads of a row: of x, of dy, and what the store of dx does.
  template <typename T, typename X, typename Dy, typename Store> struct Row {
    typename Part<T>::template Loaded<X> x;
    typename Part<T>::template Loaded<Dy> dy;
    typename Part<T>::template Ahead<Store> operands;

    /// Of row `row`, which is at these places of x and dy.
    HYBRID_DEVICE static Row load(const X *x, const Dy *dy, const Store &dx, int64_t row,
                                  bool exists) {
      const int thread = Team::thread();
      Row loaded;
      loaded.x.load(thread, x, exists);
      loaded.dy.load(thread, dy, exists);
      loaded.operands.loadEarly(thread, dx, row, exists);
      return loaded;
    }
  };
  /// use(row, exists, loaded) for the rows from `begin` to `end` of each team, also where it has
  /// none; load(row, exists) is on its way while the row before is computed, if it takes few
  /// registers.
  template <typename Load, typename Use>
  HYBRID_DEVICE static void forEachRow(int64_t begin, int64_t end, Load load, Use use) {
    using Loaded = decltype(load(begin, true));
    constexpr bool isAhead = sizeof(Loaded) <= 48;
    int64_t row = begin + Team::number();
    Loaded next;
    if constexpr (isAhead)
      next = load(row, row < end);
    HYBRID_NO_UNROLL
    for (int64_t first = begin; first < end; first += Team::count, row += Team::count) {
      Loaded now;
      if constexpr (isAhead) {
        now = next;
        next = load(row + Team::count, row + Team::count < end);
      } else {
        now = load(row, row < end);
      }
      use(row, row < end, now);
    }
  }
  /// out[column] = Σ over teams of each thread's values, teams in order.
  template <typename T> HYBRID_DEVICE static void addUp(const Part<T> &part, T *out) {
    const int thread = Team::thread();
    if constexpr (Team::count == 1) {
      part.each(thread, [&](int64_t column, int i) { out[column] = part.values[i]; });
    } else {
      T *shared = sharedMemory<T>();
      blockBarrier();
      part.each(thread, [&](int64_t column, int i) {
        shared[Team::number() * columns + column] = part.values[i];
      });
      blockBarrier();
      for (int64_t column = threadIdx.x; column < columns; column += normBackwardThreads(columns)) {
        T total = 0;
        for (int team = 0; team < Team::count; ++team)
          total += shared[team * columns + column];
        out[column] = total;
      }
    }
  }
};

} // namespace hybrid::cuda
