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
