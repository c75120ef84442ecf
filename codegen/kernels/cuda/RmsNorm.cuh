//===- RmsNorm.cuh - root mean square norms ---------------------------------===//
#pragma once
#include "codegen/kernels/RmsNorm.h"
#include "codegen/kernels/cuda/Norm.cuh"

namespace hybrid::cuda {

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

/// The gradient of a row. sum(): over those who share it; each(): for the elements that are there.
template <typename T, RmsNormParams P> struct RmsNormGradient {
  static constexpr RmsNormParams params = P;
  static constexpr int sums = 1; ///< of dy times the normalized x

  template <int count, typename Sum, typename Each>
  HYBRID_DEVICE static void ofRow(const T (&x)[count], const T (&dy)[count], const T (&w)[count],
                                  Sum sum, Each, T (&dx)[count], T (&normalized)[count]) {
    auto scaled = [&](int i) { return P.hasWeight ? dy[i] * w[i] : dy[i]; };
    T squares = 0, dot = 0;
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i) {
      squares += x[i] * x[i];
      dot += scaled(i) * x[i];
    }
    RmsScale<T, P> scale(sum(squares));
    const T along = scale.along(sum(dot));
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i) {
      dx[i] = scaled(i) * scale.inverse - x[i] * along;
      normalized[i] = x[i] * scale.inverse;
    }
  }
};

template <typename T, RmsNormParams P, typename X, typename Store>
HYBRID_DEVICE void rmsnormForward(int64_t item, X xBuffer, const T *weight, Store store) {
  using Rows = RowsOfItem<P.columns, P.rowsPerItem>;
  using Part = RowPart<T, P.columns, threadsOfRow(P.columns), rowPack<T>(P.alignment)>;
  const int thread = Rows::thread();
  const int64_t row = Rows::row(item, P.rows);
  const auto *x = readable<T>(xBuffer) + row * P.xStride;
  auto y = asStore<P.yStride>(store);
  Part part, w;
  typename Part::template Ahead<decltype(y)> operands;
  operands.loadEarly(thread, y, row, row < P.rows);
  part.load(thread, x, row < P.rows);
  w.load(thread, weight, P.hasWeight != 0);
  T squares = 0;
  HYBRID_UNROLL
  for (int i = 0; i < Part::count; ++i)
    squares += part.values[i] * part.values[i];
  RmsScale<T, P> scale(Rows::sum(squares, sharedMemory<T>()));
  if (row >= P.rows)
    return;
  operands.store(thread, y, row, [&](int i) {
    const T value = part.values[i] * scale.inverse;
    return P.hasWeight != 0 ? value * w.values[i] : value;
  });
}

template <typename T, RmsNormParams P, typename X, typename Gradient, typename Store>
HYBRID_DEVICE void rmsnormBackward(int64_t item, X xBuffer, const T *weight, Gradient dyBuffer,
                                   T *partial, Store store) {
  using Team = NormTeam<P.columns, rowPack<T>(P.alignment)>;
  using Part = typename Team::template Part<T>;
  const int thread = Team::thread();
  const int64_t end = minimum((item + 1) * P.rowsPerItem, P.rows);
  const auto *x = readable<T>(xBuffer);
  const auto *dy = readable<T>(dyBuffer);
  auto dx = asStore<P.dxStride>(store);
  Part w, sums;
  w.load(thread, weight, P.hasWeight != 0);
  sums.clear();
  using Row = typename Team::template Row<T, ElementOf<T, X>, ElementOf<T, Gradient>, decltype(dx)>;
  auto load = [&](int64_t row, bool exists) {
    return Row::load(x + row * P.xStride, dy + row * P.yStride, dx, row, exists);
  };
  Team::forEachRow(item * P.rowsPerItem, end, load, [&](int64_t row, bool exists, Row &loaded) {
    Part value, gradient, result, normalized;
    value.take(loaded.x);
    gradient.take(loaded.dy);
    RmsNormGradient<T, P>::ofRow(
        value.values, gradient.values, w.values, [](T value) { return Team::sum(value); },
        [](auto) {}, result.values, normalized.values);
    if (!exists)
      return;
    loaded.operands.store(thread, dx, row, [&](int i) { return result.values[i]; });
    HYBRID_UNROLL
    for (int i = 0; i < Part::count; ++i)
      sums.values[i] += gradient.values[i] * normalized.values[i];
  });
  if constexpr (P.hasWeight != 0)
    Team::addUp(sums, partial + item * P.columns);
}

template <typename T, RmsNormParams P, typename X, typename Store>
HYBRID_DEVICE auto rmsnormBackwardRows(X x, const T *weight, T *partial, Store store) {
  auto dx = asStore<P.dxStride>(store);
  return NormGradientRows<T, RmsNormGradient<T, P>, ElementOf<T, X>, decltype(dx)>{
      readable<T>(x), weight, partial, dx};
}

} // namespace hybrid::cuda
