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

/// The gradient of a norm in place of a store of dy (StagedSums.cuh): `Gradient` is that of a row.
/// A thread has the same columns of all rows that it stores, and sums over these for the weights.
template <typename T, typename Gradient, typename X, typename Store> struct NormGradientRows {
  static constexpr bool isRowFunction = true;
  static constexpr int width = Store::width < 8 ? 4 : 8, sums = Gradient::sums;
  static constexpr auto P = Gradient::params;
  const X *x;
  const T *weight; // if P.hasWeight
  T *partial;      // [ceilDiv(P.rows, P.rowsPerItem), sums, P.columns], or none
  Store dx;

  static constexpr int pack = rowPack<T>(P.alignment);
  template <int count> struct Operands {
    Pack<X, pack> x[count / pack];
    NeighboursOperands<Store, count> dx;
  };
  template <int count> HYBRID_DEVICE Operands<count> load(int64_t row, int64_t column) const {
    Operands<count> operands;
    HYBRID_UNROLL
    for (int i = 0; i < count / pack; ++i)
      operands.x[i] = loadPack<pack>(x + row * P.xStride + column + i * pack);
    operands.dx.load(dx, row, column);
    return operands;
  }
  /// Of a thread's columns.
  template <int count> struct Columns {
    T weight[count], sum[sums][count];
  };
  template <int count> HYBRID_DEVICE Columns<count> columns(int64_t column) const {
    Columns<count> own = {};
    if constexpr (P.hasWeight != 0) {
      HYBRID_UNROLL
      for (int i = 0; i < count; ++i)
        own.weight[i] = weight[column + i];
    }
    return own;
  }
  /// dy: of a row that `threads` neighbouring lanes have together.
  template <int threads, int count>
  HYBRID_DEVICE void store(int64_t row, int64_t column, const Pack<T, count> &dy,
                           const Operands<count> &operands, Columns<count> &own) const {
    T values[count], gradient[count], result[count], normalized[count];
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i)
      values[i] = number(operands.x[i / pack][i % pack]), gradient[i] = dy[i];
    Gradient::ofRow(
        values, gradient, own.weight, [](T value) { return laneSum<threads>(value); },
        [](auto use) {
          HYBRID_UNROLL
          for (int i = 0; i < count; ++i)
            use(i);
        },
        result, normalized);
    Pack<T, count> packed;
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i) {
      packed[i] = result[i];
      own.sum[0][i] += gradient[i] * normalized[i];
      if constexpr (sums > 1)
        own.sum[1][i] += gradient[i];
    }
    operands.dx.store(dx, row, column, packed);
  }
  /// The sums of a block's rows: those of `teams` teams, which are (team, column) of each thread,
  /// in as many parts as items of the norm have these rows. shared: teams x P.columns elements.
  template <int rowTile, int teams, int threads, int count>
  HYBRID_DEVICE void finish(const Columns<count> &own, int64_t firstRow, int team, int column,
                            T *shared) const {
    constexpr int64_t items = ceilDiv(P.rows, P.rowsPerItem), blocks = P.rows / rowTile;
    constexpr int parts = static_cast<int>(items / blocks), length = static_cast<int>(P.columns);
    static_assert(P.rows % rowTile == 0 && items % blocks == 0);
    if ((P.hasWeight == 0 && sums == 1) || !partial)
      return;
    HYBRID_UNROLL
    for (int k = 0; k < sums; ++k) {
      blockBarrier();
      HYBRID_UNROLL
      for (int i = 0; i < count; ++i)
        shared[team * length + column + i] = own.sum[k][i];
      blockBarrier();
      for (int at = static_cast<int>(threadIdx.x); at < parts * length; at += threads) {
        const int part = at / length;
        T total = 0;
        for (int of = part; of < teams; of += parts)
          total += shared[of * length + at % length];
        partial[((firstRow / rowTile * parts + part) * sums + k) * length + at % length] = total;
      }
    }
  }
};

} // namespace hybrid::cuda
