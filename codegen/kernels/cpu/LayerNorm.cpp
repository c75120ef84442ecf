//===- LayerNorm.cpp - layer normalisation ------------------------------===//
//
// One row at a time, as RmsNorm.cpp: mean, then the variance around it (never the difference of the
// mean of squares and the square of the mean), then the result, all from L1. Bound by memory.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/LayerNorm.h"
#include "Activation.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T, typename Term> HYBRID_INLINE T meanOverRow(int64_t columns, Term term) {
  const int64_t width = lanes<T>;
  Vector<T> sum0 = splat(T(0)), sum1 = sum0;
  int64_t c = 0;
  for (; c + 2 * width <= columns; c += 2 * width) {
    sum0 += term(c, width);
    sum1 += term(c + width, width);
  }
  for (; c < columns; c += width)
    sum0 += term(c, lanesAt<T>(c, columns));
  return sumOfLanes(sum0 + sum1) / static_cast<T>(columns);
}

/// Lanes behind the last column become zero, whatever was subtracted from them.
template <typename T> HYBRID_INLINE Vector<T> keepLanes(Vector<T> v, int64_t count) {
  if (count >= lanes<T>)
    return v;
  using Integer = typename VectorTraits<T>::Integer;
  Integers<T> limit = (Integers<T>)(static_cast<Integer>(count));
  return VectorTraits<T>::laneNumbers < limit ? v : splat(T(0));
}

template <typename T> struct Moments {
  T mean, inverse;

  Moments(Activation<T> x, const LayerNormParams &params) {
    mean = meanOverRow<T>(params.columns,
                          [&](int64_t c, int64_t count) { return loadPart(x + c, count); });
    T variance = meanOverRow<T>(params.columns, [&](int64_t c, int64_t count) {
      Vector<T> v = keepLanes<T>(loadPart(x + c, count) - mean, count);
      return v * v;
    });
    inverse = T(1) / squareRoot(variance + static_cast<T>(params.eps));
  }
};

template <typename T>
HYBRID_INLINE void layernorm_forward(int64_t row, Buffers buffers, const LayerNormParams &params) {
  const T *weight = buffers.at<const T>(1), *bias = buffers.at<const T>(2);
  const Activation<T> x = activationAt<T>(buffers, 0) + row * params.xStride;
  const Activation<T> y = activationAt<T>(buffers, 3) + row * params.yStride;
  Moments<T> moments(x, params);
  for (int64_t c = 0; c < params.columns; c += lanes<T>) {
    int64_t count = lanesAt<T>(c, params.columns);
    Vector<T> v = (loadPart(x + c, count) - moments.mean) * moments.inverse;
    if (params.hasWeight)
      v *= loadPart(weight + c, count);
    if (params.hasBias)
      v += loadPart(bias + c, count);
    storePart(y + c, v, count);
  }
}

template <typename T>
HYBRID_INLINE void layernorm_backward(int64_t item, Buffers buffers,
                                      const LayerNormParams &params) {
  const T *weight = buffers.at<const T>(1);
  const bool hasPartial = buffers[3] != nullptr;
  T *dWeight = hasPartial ? buffers.at<T>(3) + item * 2 * params.columns : nullptr;
  T *dBias = dWeight + (hasPartial ? params.columns : 0);
  if (hasPartial)
    for (int64_t c = 0; c < params.columns; c += lanes<T>) {
      storePart(dWeight + c, splat(T(0)), lanesAt<T>(c, params.columns));
      storePart(dBias + c, splat(T(0)), lanesAt<T>(c, params.columns));
    }
  int64_t end = minimum((item + 1) * params.rowsPerItem, params.rows);
  for (int64_t row = item * params.rowsPerItem; row < end; ++row) {
    const Activation<T> x = activationAt<T>(buffers, 0) + row * params.xStride;
    const Activation<T> dy = activationAt<T>(buffers, 2) + row * params.yStride;
    const Activation<T> dx = activationAt<T>(buffers, 4) + row * params.dxStride;
    Moments<T> moments(x, params);
    auto normalized = [&](int64_t c, int64_t count) -> Vector<T> {
      return (loadPart(x + c, count) - moments.mean) * moments.inverse;
    };
    auto gradient = [&](int64_t c, int64_t count) -> Vector<T> {
      Vector<T> g = loadPart(dy + c, count);
      return params.hasWeight ? g * loadPart(weight + c, count) : g;
    };
    T meanGradient = meanOverRow<T>(params.columns, gradient);
    // The gradient is zero behind the last column, so that the product is too.
    T meanProduct = meanOverRow<T>(params.columns, [&](int64_t c, int64_t count) -> Vector<T> {
      return gradient(c, count) * normalized(c, count);
    });
    for (int64_t c = 0; c < params.columns; c += lanes<T>) {
      int64_t count = lanesAt<T>(c, params.columns);
      Vector<T> v = normalized(c, count), g = loadPart(dy + c, count);
      if (hasPartial) {
        storePart(dWeight + c, loadPart(dWeight + c, count) + g * v, count);
        storePart(dBias + c, loadPart(dBias + c, count) + g, count);
      }
      storePart(dx + c, (gradient(c, count) - meanGradient - v * meanProduct) * moments.inverse,
                count);
    }
  }
}

} // namespace

HYBRID_KERNEL(layernorm_forward, LayerNormParams)
HYBRID_KERNEL(layernorm_backward, LayerNormParams)
