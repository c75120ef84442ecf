//===- NormRowsTest.cpp - gradients of norms in the store of a product -------===//
//
// On CUDA; elsewhere they are kernels of their own.
//
//===----------------------------------------------------------------------===//
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/LayerNorm.cuh"
#include "codegen/kernels/cuda/RmsNorm.cuh"
#include "codegen/kernels/cuda/RoundedLinear.cuh"
#include "test/kernels/RoundedTensor.h"
#include <cmath>

HYBRID_TEST_KERNEL(RoundedLinear, , roundedLinear)

using namespace hybrid;
using namespace hybrid::test;

namespace {

enum class Norm { Rms, RmsEpsilonOutside, Layer };

/// items: of the norm's sums.
struct Case {
  Norm norm;
  int64_t rows, inputs, columns, rowTile, items;
  bool hasWeight = true;
};
constexpr double epsilon = 1e-3;

constexpr RoundedLinearParams productOf(const Case &c) {
  RoundedLinearParams p{};
  p.rows = c.rows, p.inputs = c.inputs, p.outputs = c.columns, p.transposed = 1;
  p.xStride = c.inputs, p.weightStride = c.columns;
  p.rowTile = c.rowTile, p.columnTile = c.columns;
  return p;
}
template <typename Params> constexpr Params normOf(const Case &c) {
  Params p{};
  p.rows = c.rows, p.columns = c.columns, p.rowsPerItem = ceilDiv(c.rows, c.items);
  p.xStride = c.columns + 4, p.dxStride = c.columns + 8; // parts of wider tensors
  p.hasWeight = c.hasWeight, p.alignment = 4, p.eps = epsilon;
  if constexpr (requires { p.epsOutside; })
    p.epsOutside = c.norm == Norm::RmsEpsilonOutside;
  return p;
}

/// The gradient of row `x`, with the sums for the weights added to `dw` and `db`.
std::vector<double> gradientOf(const Case &c, const double *x, const double *dy, const double *w,
                               double *dw, double *db) {
  const auto n = static_cast<size_t>(c.columns);
  double mean = 0, squares = 0, gradients = 0, products = 0;
  for (size_t i = 0; i < n && c.norm == Norm::Layer; ++i)
    mean += x[i] / static_cast<double>(n);
  for (size_t i = 0; i < n; ++i)
    squares += (x[i] - mean) * (x[i] - mean) / static_cast<double>(n);
  const double root = c.norm == Norm::RmsEpsilonOutside ? std::sqrt(squares)
                                                        : std::sqrt(squares + epsilon),
               scale = root + (c.norm == Norm::RmsEpsilonOutside ? epsilon : 0);
  std::vector<double> dx(n);
  for (size_t i = 0; i < n; ++i) {
    const double normalized = (x[i] - mean) / scale;
    dw[i] += dy[i] * normalized, db[i] += dy[i];
    gradients += (c.norm == Norm::Layer ? dy[i] * w[i] : 0) / static_cast<double>(n);
    products += dy[i] * w[i] * normalized / static_cast<double>(n);
  }
  for (size_t i = 0; i < n; ++i)
    dx[i] = (dy[i] * w[i] - gradients - (x[i] - mean) / root * products) / scale;
  return dx;
}

template <typename Of> void check(const Of &of) {
  static constexpr Case c = Of::value;
  constexpr bool isLayer = c.norm == Norm::Layer;
  constexpr int64_t sums = isLayer ? 2 : 1;
  SCOPED_TRACE(testing::Message() << "norm " << static_cast<int>(c.norm) << " of " << c.rows << "x"
                                  << c.columns << ", tiles of " << c.rowTile << " rows, " << c.items
                                  << " items");
  RoundedTensor left(c.rows * c.inputs, 1), right(c.inputs * c.columns, 2);
  Tensor<float> x(randomDoubles(c.rows * c.columns, 3), c.rows, c.columns, c.columns + 4),
      w(randomDoubles(c.columns, 4), 1, c.columns);
  const Doubles xs = x.values(), ws = c.hasWeight ? w.values() : Doubles(w.values().size(), 1);
  Doubles dx, dw(static_cast<size_t>(c.columns)), db = dw;
  for (int64_t row = 0; row < c.rows; ++row) {
    Doubles dy(static_cast<size_t>(c.columns));
    for (int64_t i = 0; i < c.inputs; ++i)
      for (int64_t o = 0; o < c.columns; ++o)
        dy[static_cast<size_t>(o)] += left.values[static_cast<size_t>(row * c.inputs + i)] *
                                      right.values[static_cast<size_t>(i * c.columns + o)];
    const auto of =
        gradientOf(c, xs.data() + row * c.columns, dy.data(), ws.data(), dw.data(), db.data());
    dx.insert(dx.end(), of.begin(), of.end());
  }
  Tensor<float> result(c.rows, c.columns, c.columns + 8), partial(c.items, sums * c.columns);
  // Eight neighbours at a time, or as many as the norm's operands allow.
  constexpr int together = c.columns == 128 ? 8 : 1;
  const hybrid::cuda::RowStore<float, c.columns + 8, together> dxStore{result.data()};
  const auto store = [&] {
    if constexpr (isLayer)
      return hybrid::cuda::layernormBackwardRows<float, normOf<LayerNormParams>(c)>(
          x.data(), w.data(), partial.data(), dxStore);
    else
      return hybrid::cuda::rmsnormBackwardRows<float, normOf<RmsNormParams>(c)>(
          x.data(), w.data(), partial.data(), dxStore);
  }();
  launch<RoundedLinear, float>(
      of, [](const Case &) { return productOf(c); }, {&result, &partial}, left.memory.data(),
      right.memory.data(), store);
  EXPECT_LT(relativeError(result.values(), dx), 1e-5);
  if (!c.hasWeight && !isLayer)
    return;
  Doubles summed(static_cast<size_t>(sums * c.columns));
  const Doubles partials = partial.values();
  for (size_t i = 0; i < partials.size(); ++i)
    summed[i % summed.size()] += partials[i];
  if (isLayer)
    dw.insert(dw.end(), db.begin(), db.end());
  EXPECT_LT(relativeError(summed, dw), 1e-5);
}

constexpr Case cases[] = {{Norm::Rms, 128, 24, 128, 128, 1},
                          {Norm::Rms, 128, 40, 128, 64, 8},
                          {Norm::Rms, 96, 16, 64, 32, 6},
                          {Norm::Rms, 64, 16, 32, 32, 2, false},
                          {Norm::RmsEpsilonOutside, 256, 16, 32, 128, 10}, // items of 26 rows
                          {Norm::Layer, 128, 24, 128, 64, 4},
                          {Norm::Layer, 64, 72, 64, 64, 3, false}};
TEST(NormRows, AreWhatTheNormsOfAProductGive) {
  forEachCase<cases>([](const auto &of) { check(of); });
}

} // namespace
#endif
