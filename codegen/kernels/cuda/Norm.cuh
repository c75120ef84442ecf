//===- Norm.cuh - norms over the channels of a row --------------------------===//
//
// Forward: a block a row, the row in registers. Backward: a block a group of rows; where a row is
// short each warp has rows of its own, and the sums for the weights meet in shared memory at the
// end. Bound by memory: every element is read once and written once.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/LaunchShapes.h"
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

/// 1 over the scale of a row by its mean square, and what the gradient needs of it.
template <typename T, RmsNormParams P> struct RmsScale {
  T inverse, root;
  HYBRID_DEVICE explicit RmsScale(T squares) {
    T mean = squares / T(P.columns);
    if constexpr (P.epsOutside != 0) {
      root = squareRoot(mean);
      inverse = T(1) / (root + T(P.eps));
    } else {
      root = squareRoot(mean + T(P.eps));
      inverse = T(1) / root;
    }
  }
  /// The factor of x in dx when Σ dy w x is `dot`.
  HYBRID_DEVICE T along(T dot) const {
    if constexpr (P.epsOutside != 0) // the gradient at x = 0 is defined as that of the first term
      return root == T(0) ? T(0) : inverse * inverse / root * dot / T(P.columns);
    else
      return inverse * inverse * inverse * dot / T(P.columns);
  }
};

template <typename T, RmsNormParams P, typename Store>
HYBRID_DEVICE void rmsnormForward(int64_t item, const T *x, const T *weight, Store store) {
  constexpr int threads = static_cast<int>(rowThreads(P.columns));
  using Part = RowPart<T, P.columns, threads>;
  const int thread = threadIdx.x;
  Part row;
  row.fill(thread, [&](int64_t column) { return x[item * P.xStride + column]; });
  T squares = 0;
  HYBRID_UNROLL
  for (int i = 0; i < Part::count; ++i)
    squares += row.values[i] * row.values[i];
  RmsScale<T, P> scale(blockSum<threads>(squares, sharedMemory<T>()));
  Part::each(thread, [&](int64_t column, int i) {
    T value = row.values[i] * scale.inverse;
    if constexpr (P.hasWeight != 0)
      value *= weight[column];
    store(item, column, value);
  });
}

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

template <typename T, RmsNormParams P, typename Store>
HYBRID_DEVICE void rmsnormBackward(int64_t item, const T *x, const T *weight, const T *dy,
                                   T *partial, Store store) {
  using Groups = RowGroups<P.columns>;
  using Part = RowPart<T, P.columns, Groups::threadsOfRow>;
  const int thread = static_cast<int>(threadIdx.x) % Groups::threadsOfRow,
            group = static_cast<int>(threadIdx.x) / Groups::threadsOfRow;
  const int64_t end = minimum((item + 1) * P.rowsPerItem, P.rows);
  Part w, sums;
  w.fill(thread, [&](int64_t column) { return P.hasWeight ? weight[column] : T(1); });
  sums.fill(thread, [](int64_t) { return T(0); });
  for (int64_t row = item * P.rowsPerItem + group; row < end; row += Groups::groups) {
    Part value, gradient;
    value.fill(thread, [&](int64_t column) { return x[row * P.xStride + column]; });
    gradient.fill(thread, [&](int64_t column) { return dy[row * P.yStride + column]; });
    T squares = 0, dot = 0;
    HYBRID_UNROLL
    for (int i = 0; i < Part::count; ++i) {
      squares += value.values[i] * value.values[i];
      dot += gradient.values[i] * w.values[i] * value.values[i];
    }
    RmsScale<T, P> scale(Groups::sum(squares));
    T along = scale.along(Groups::sum(dot));
    Part::each(thread, [&](int64_t column, int i) {
      store(row, column,
            gradient.values[i] * w.values[i] * scale.inverse - value.values[i] * along);
      sums.values[i] += gradient.values[i] * (value.values[i] * scale.inverse);
    });
  }
  if constexpr (P.hasWeight != 0)
    Groups::addUp(sums, group, thread, partial + item * P.columns);
}

/// Mean and inverse deviation of a row whose threads sum by `sum`.
template <typename T, LayerNormParams P> struct LayerMoments {
  T mean, inverse;
  template <typename Part, typename Sum>
  HYBRID_DEVICE LayerMoments(const Part &row, int thread, Sum sum) {
    T total = 0;
    HYBRID_UNROLL
    for (int i = 0; i < Part::count; ++i)
      total += row.values[i];
    mean = sum(total) / T(P.columns);
    T squares = 0;
    Part::each(thread, [&](int64_t, int i) {
      T centred = row.values[i] - mean;
      squares += centred * centred;
    });
    inverse = T(1) / squareRoot(sum(squares) / T(P.columns) + T(P.eps));
  }
};

template <typename T, LayerNormParams P, typename Store>
HYBRID_DEVICE void layernormForward(int64_t item, const T *x, const T *weight, const T *bias,
                                    Store store) {
  constexpr int threads = static_cast<int>(rowThreads(P.columns));
  using Part = RowPart<T, P.columns, threads>;
  const int thread = threadIdx.x;
  Part row;
  row.fill(thread, [&](int64_t column) { return x[item * P.xStride + column]; });
  LayerMoments<T, P> moments(row, thread,
                             [](T value) { return blockSum<threads>(value, sharedMemory<T>()); });
  Part::each(thread, [&](int64_t column, int i) {
    T value = (row.values[i] - moments.mean) * moments.inverse;
    if constexpr (P.hasWeight != 0)
      value *= weight[column];
    if constexpr (P.hasBias != 0)
      value += bias[column];
    store(item, column, value);
  });
}

template <typename T, LayerNormParams P, typename Store>
HYBRID_DEVICE void layernormBackward(int64_t item, const T *x, const T *weight, const T *dy,
                                     T *partial, Store store) {
  using Groups = RowGroups<P.columns>;
  using Part = RowPart<T, P.columns, Groups::threadsOfRow>;
  const int thread = static_cast<int>(threadIdx.x) % Groups::threadsOfRow,
            group = static_cast<int>(threadIdx.x) / Groups::threadsOfRow;
  const int64_t end = minimum((item + 1) * P.rowsPerItem, P.rows);
  Part w, weightSums, biasSums;
  w.fill(thread, [&](int64_t column) { return P.hasWeight ? weight[column] : T(1); });
  weightSums.fill(thread, [](int64_t) { return T(0); });
  biasSums.fill(thread, [](int64_t) { return T(0); });
  auto sum = [](T value) { return Groups::sum(value); };
  for (int64_t row = item * P.rowsPerItem + group; row < end; row += Groups::groups) {
    Part value, gradient;
    value.fill(thread, [&](int64_t column) { return x[row * P.xStride + column]; });
    gradient.fill(thread, [&](int64_t column) { return dy[row * P.yStride + column]; });
    LayerMoments<T, P> moments(value, thread, sum);
    T gradients = 0, products = 0;
    HYBRID_UNROLL
    for (int i = 0; i < Part::count; ++i) { // the gradient is 0 behind the last column
      T scaled = gradient.values[i] * w.values[i];
      gradients += scaled;
      products += scaled * ((value.values[i] - moments.mean) * moments.inverse);
    }
    T meanGradient = sum(gradients) / T(P.columns), meanProduct = sum(products) / T(P.columns);
    Part::each(thread, [&](int64_t column, int i) {
      T normalized = (value.values[i] - moments.mean) * moments.inverse;
      store(row, column,
            (gradient.values[i] * w.values[i] - meanGradient - normalized * meanProduct) *
                moments.inverse);
      weightSums.values[i] += gradient.values[i] * normalized;
      biasSums.values[i] += gradient.values[i];
    });
  }
  if (partial) {
    Groups::addUp(weightSums, group, thread, partial + item * 2 * P.columns);
    Groups::addUp(biasSums, group, thread, partial + (item * 2 + 1) * P.columns);
  }
}

} // namespace hybrid::cuda
