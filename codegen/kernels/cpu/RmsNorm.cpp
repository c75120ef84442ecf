//===- RmsNorm.cpp - root mean square normalisation ---------------------===//
//
// One row at a time, which stays in L1 between the pass that sums squares and the one that scales.
// Sums run in four vectors, so that additions overlap; the order depends on nothing but the width.
// Bound by memory. Zhang and Sennrich 2019; the variant with eps outside the root is
// StripedHyena's.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/RmsNorm.h"
#include "Activation.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// The sum over a row of a vector-valued function of (column, valid lanes).
template <typename T, typename Term> HYBRID_INLINE T sumOverRow(int64_t columns, Term term) {
  const int64_t width = lanes<T>;
  Vector<T> sum0 = splat(T(0)), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  int64_t c = 0;
  for (; c + 4 * width <= columns; c += 4 * width) {
    sum0 += term(c, width);
    sum1 += term(c + width, width);
    sum2 += term(c + 2 * width, width);
    sum3 += term(c + 3 * width, width);
  }
  for (; c < columns; c += width)
    sum0 += term(c, lanesAt<T>(c, columns));
  return sumOfLanes((sum0 + sum1) + (sum2 + sum3));
}

/// 1 / (root mean square), in whichever form; `root` is the plain root mean square.
template <typename T> struct Scale {
  T root, inverse;

  Scale(T sumOfSquares, const RmsNormParams &params) {
    T mean = sumOfSquares / static_cast<T>(params.columns);
    root = squareRoot(mean);
    inverse = params.epsOutside ? T(1) / (root + static_cast<T>(params.eps))
                                : T(1) / squareRoot(mean + static_cast<T>(params.eps));
  }
};

template <typename T>
HYBRID_INLINE void rmsnorm_forward(int64_t row, Buffers buffers, const RmsNormParams &params) {
  const T *weight = buffers.at<const T>(1);
  const Activation<T> x = activationAt<T>(buffers, 0) + row * params.xStride;
  const Activation<T> y = activationAt<T>(buffers, 2) + row * params.yStride;
  T squares = sumOverRow<T>(params.columns, [&](int64_t c, int64_t count) {
    Vector<T> v = loadPart(x + c, count);
    return v * v;
  });
  T r = Scale<T>(squares, params).inverse;
  for (int64_t c = 0; c < params.columns; c += lanes<T>) {
    int64_t count = lanesAt<T>(c, params.columns);
    Vector<T> v = loadPart(x + c, count) * r;
    if (params.hasWeight)
      v *= loadPart(weight + c, count);
    storePart(y + c, v, count);
  }
}

template <typename T>
HYBRID_INLINE void rmsnorm_backward(int64_t item, Buffers buffers, const RmsNormParams &params) {
  const T *weight = buffers.at<const T>(1);
  const T columns = static_cast<T>(params.columns);
  T *partial = params.hasWeight ? buffers.at<T>(3) + item * params.columns : nullptr;
  if (params.hasWeight)
    for (int64_t c = 0; c < params.columns; c += lanes<T>)
      storePart(partial + c, splat(T(0)), lanesAt<T>(c, params.columns));
  int64_t end = minimum((item + 1) * params.rowsPerItem, params.rows);
  for (int64_t row = item * params.rowsPerItem; row < end; ++row) {
    const Activation<T> x = activationAt<T>(buffers, 0) + row * params.xStride;
    const Activation<T> dy = activationAt<T>(buffers, 2) + row * params.yStride;
    const Activation<T> dx = activationAt<T>(buffers, 4) + row * params.dxStride;
    auto gradient = [&](int64_t c, int64_t count) {
      Vector<T> g = loadPart(dy + c, count);
      return params.hasWeight ? g * loadPart(weight + c, count) : g;
    };
    T squares = sumOverRow<T>(params.columns, [&](int64_t c, int64_t count) {
      Vector<T> v = loadPart(x + c, count);
      return v * v;
    });
    T dot = sumOverRow<T>(params.columns, [&](int64_t c, int64_t count) {
      return gradient(c, count) * loadPart(x + c, count);
    });
    Scale<T> scale(squares, params);
    T r = scale.inverse, along;
    if (!params.epsOutside)
      along = r * r * r * dot / columns;
    else // the gradient at x = 0 is defined as that of the first term
      along = scale.root == T(0) ? T(0) : r * r / scale.root * dot / columns;
    for (int64_t c = 0; c < params.columns; c += lanes<T>) {
      int64_t count = lanesAt<T>(c, params.columns);
      Vector<T> v = loadPart(x + c, count);
      if (params.hasWeight)
        storePart(partial + c, loadPart(partial + c, count) + loadPart(dy + c, count) * (v * r),
                  count);
      storePart(dx + c, gradient(c, count) * r - v * along, count);
    }
  }
}

} // namespace

HYBRID_KERNEL(rmsnorm_forward, RmsNormParams)
HYBRID_KERNEL(rmsnorm_backward, RmsNormParams)
