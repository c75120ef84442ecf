//===- LayerNorm.cuh - layer norms ------------------------------------------===//
#pragma once
#include "codegen/kernels/LayerNorm.h"
#include "codegen/kernels/cuda/Norm.cuh"

namespace hybrid::cuda {

/// Mean and inverse deviation of a row whose threads sum by `sum`, of the elements of `each`.
template <typename T, LayerNormParams P> struct LayerMoments {
  T mean, inverse;
  template <int count, typename Sum, typename Each>
  HYBRID_DEVICE LayerMoments(const T (&x)[count], Sum sum, Each each) {
    T total = 0;
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i)
      total += x[i];
    mean = sum(total) / T(P.columns);
    T squares = 0;
    each([&](int i) {
      T centred = x[i] - mean;
      squares += centred * centred;
    });
    inverse = T(1) / squareRoot(sum(squares) / T(P.columns) + T(P.eps));
  }
};

/// The gradient of a row. sum(): over those who share it; each(): for the elements that are there.
template <typename T, LayerNormParams P> struct LayerNormGradient {
  static constexpr LayerNormParams params = P;
  static constexpr int sums = 2; ///< of dy times the normalized x, and of dy

  template <int count, typename Sum, typename Each>
  HYBRID_DEVICE static void ofRow(const T (&x)[count], const T (&dy)[count], const T (&w)[count],
                                  Sum sum, Each each, T (&dx)[count], T (&normalized)[count]) {
    auto scaled = [&](int i) { return P.hasWeight ? dy[i] * w[i] : dy[i]; };
    LayerMoments<T, P> moments(x, sum, each);
    T gradients = 0, products = 0;
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i) { // the gradient is 0 behind the last column
      normalized[i] = (x[i] - moments.mean) * moments.inverse;
      gradients += scaled(i);
      products += scaled(i) * normalized[i];
    }
    const T meanGradient = sum(gradients) / T(P.columns),
            meanProduct = sum(products) / T(P.columns);
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i)
      dx[i] = (scaled(i) - meanGradient - normalized[i] * meanProduct) * moments.inverse;
  }
};

template <typename T, LayerNormParams P, typename X, typename Store>
HYBRID_DEVICE void layernormForward(int64_t item, X xBuffer, const T *weight, const T *bias,
                                    Store store) {
  using Rows = RowsOfItem<P.columns, P.rowsPerItem>;
  using Part = RowPart<T, P.columns, threadsOfRow(P.columns), rowPack<T>(P.alignment)>;
  const int thread = Rows::thread();
  const int64_t row = Rows::row(item, P.rows);
  const auto *x = readable<T>(xBuffer) + row * P.xStride;
  auto y = asStore<P.yStride>(store);
  Part part, w, b;
  typename Part::template Ahead<decltype(y)> operands;
  operands.loadEarly(thread, y, row, row < P.rows);
  part.load(thread, x, row < P.rows);
  w.load(thread, weight, P.hasWeight != 0);
  b.load(thread, bias, P.hasBias != 0);
  LayerMoments<T, P> moments(
      part.values, [](T value) { return Rows::sum(value, sharedMemory<T>()); },
      [&](auto use) { Part::each(thread, [&](int64_t, int i) { use(i); }); });
  if (row >= P.rows)
    return;
  operands.store(thread, y, row, [&](int i) {
    T value = (part.values[i] - moments.mean) * moments.inverse;
    if constexpr (P.hasWeight != 0)
      value *= w.values[i];
    if constexpr (P.hasBias != 0)
      value += b.values[i];
    return value;
  });
}

template <typename T, LayerNormParams P, typename X, typename Gradient, typename Store>
HYBRID_DEVICE void layernormBackward(int64_t item, X xBuffer, const T *weight, Gradient dyBuffer,
                                     T *partial, Store store) {
  using Team = NormTeam<P.columns, rowPack<T>(P.alignment)>;
  using Part = typename Team::template Part<T>;
  const int thread = Team::thread();
  const int64_t end = minimum((item + 1) * P.rowsPerItem, P.rows);
  const auto *x = readable<T>(xBuffer);
  const auto *dy = readable<T>(dyBuffer);
  auto dx = asStore<P.dxStride>(store);
  Part w, weightSums, biasSums;
  w.load(thread, weight, P.hasWeight != 0);
  weightSums.clear();
  biasSums.clear();
  using Row = typename Team::template Row<T, ElementOf<T, X>, ElementOf<T, Gradient>, decltype(dx)>;
  auto load = [&](int64_t row, bool exists) {
    return Row::load(x + row * P.xStride, dy + row * P.yStride, dx, row, exists);
  };
  Team::forEachRow(item * P.rowsPerItem, end, load, [&](int64_t row, bool exists, Row &loaded) {
    Part value, gradient, result, normalized;
    value.take(loaded.x);
    gradient.take(loaded.dy);
    LayerNormGradient<T, P>::ofRow(
        value.values, gradient.values, w.values, [](T value) { return Team::sum(value); },
        [&](auto use) { Part::each(thread, [&](int64_t, int i) { use(i); }); }, result.values,
        normalized.values);
    if (!exists)
      return;
    loaded.operands.store(thread, dx, row, [&](int i) { return result.values[i]; });
    HYBRID_UNROLL
    for (int i = 0; i < Part::count; ++i) {
      weightSums.values[i] += gradient.values[i] * normalized.values[i];
      biasSums.values[i] += gradient.values[i];
    }
  });
  if (partial) {
    Team::addUp(weightSums, partial + item * 2 * P.columns);
    Team::addUp(biasSums, partial + (item * 2 + 1) * P.columns);
  }
}

template <typename T, LayerNormParams P, typename X, typename Store>
HYBRID_DEVICE auto layernormBackwardRows(X x, const T *weight, T *partial, Store store) {
  auto dx = asStore<P.dxStride>(store);
  return NormGradientRows<T, LayerNormGradient<T, P>, ElementOf<T, X>, decltype(dx)>{
      readable<T>(x), weight, partial, dx};
}

} // namespace hybrid::cuda
