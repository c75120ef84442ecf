//===- NormTest.cpp - RMSNorm, LayerNorm and the sum of partials ----------===//
#include "KernelTest.h"
#include "codegen/kernels/LayerNorm.h"
#include "codegen/kernels/RmsNorm.h"
#include "codegen/kernels/SumPartials.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

HYBRID_DECLARE_KERNEL(rmsnorm_forward, RmsNormParams)
HYBRID_DECLARE_KERNEL(rmsnorm_backward, RmsNormParams)
HYBRID_DECLARE_KERNEL(layernorm_forward, LayerNormParams)
HYBRID_DECLARE_KERNEL(layernorm_backward, LayerNormParams)
HYBRID_DECLARE_KERNEL(sum_partials, SumPartialsParams)

namespace {

/// Rows of normalised values, and the gradients of sum(y * dy).
struct Reference {
  Doubles x, w, b, dy, y, dx, dw, db;

  Reference(int64_t rows, int64_t columns)
      : x(randomDoubles(rows * columns, 1)), w(randomDoubles(columns, 2)),
        b(randomDoubles(columns, 3)), dy(randomDoubles(rows * columns, 4)), y(x.size()),
        dx(x.size()), dw(w.size()), db(w.size()) {}

  void rmsnorm(const RmsNormParams &p) {
    double n = static_cast<double>(p.columns);
    for (int64_t r = 0; r < p.rows; ++r) {
      auto at = [&](int64_t c) { return static_cast<size_t>(r * p.columns + c); };
      double squares = 0, dot = 0;
      for (int64_t c = 0; c < p.columns; ++c) {
        squares += x[at(c)] * x[at(c)];
        dot += x[at(c)] * dy[at(c)] * weight(p.hasWeight, c);
      }
      double root = std::sqrt(squares / n);
      double scale = p.epsOutside ? 1 / (root + p.eps) : 1 / std::sqrt(squares / n + p.eps);
      double slope = p.epsOutside ? (root > 0 ? scale * scale / root : 0) : scale * scale * scale;
      for (int64_t c = 0; c < p.columns; ++c) {
        y[at(c)] = x[at(c)] * scale * weight(p.hasWeight, c);
        dx[at(c)] = scale * dy[at(c)] * weight(p.hasWeight, c) - x[at(c)] * slope * dot / n;
        dw[static_cast<size_t>(c)] += dy[at(c)] * x[at(c)] * scale;
      }
    }
  }

  void layernorm(const LayerNormParams &p) {
    double n = static_cast<double>(p.columns);
    for (int64_t r = 0; r < p.rows; ++r) {
      auto at = [&](int64_t c) { return static_cast<size_t>(r * p.columns + c); };
      double mean = 0, variance = 0, meanGradient = 0, meanProduct = 0;
      for (int64_t c = 0; c < p.columns; ++c)
        mean += x[at(c)] / n;
      for (int64_t c = 0; c < p.columns; ++c)
        variance += (x[at(c)] - mean) * (x[at(c)] - mean) / n;
      double scale = 1 / std::sqrt(variance + p.eps);
      for (int64_t c = 0; c < p.columns; ++c) {
        double g = dy[at(c)] * weight(p.hasWeight, c);
        meanGradient += g / n, meanProduct += g * (x[at(c)] - mean) * scale / n;
      }
      for (int64_t c = 0; c < p.columns; ++c) {
        double value = (x[at(c)] - mean) * scale;
        y[at(c)] = value * weight(p.hasWeight, c) + (p.hasBias ? b[static_cast<size_t>(c)] : 0);
        dx[at(c)] =
            scale * (dy[at(c)] * weight(p.hasWeight, c) - meanGradient - value * meanProduct);
        dw[static_cast<size_t>(c)] += dy[at(c)] * value;
        db[static_cast<size_t>(c)] += dy[at(c)];
      }
    }
  }

private:
  double weight(int64_t has, int64_t c) const { return has ? w[static_cast<size_t>(c)] : 1; }
};

/// Adds `count` partials of `columns` elements.
template <typename T> Doubles summed(T *partial, int64_t count, int64_t columns, int64_t stride) {
  SumPartialsParams p{count, columns, stride, columns, columns};
  Tensor<T> out(1, columns), again = out;
  int64_t grid = ceilDiv(columns, lanes<T>);
  callWhole<SumPartialsParams>(sum_partials<T>, grid, {partial, out.data()}, p);
  callInPieces<SumPartialsParams>(sum_partials<T>, grid, {partial, again.data()}, p);
  EXPECT_TRUE(out.sameBits(again) && out.guardsIntact());
  return out.values();
}

template <typename T> struct Norm : testing::Test {};
TYPED_TEST_SUITE(Norm, Scalars);

TYPED_TEST(Norm, RmsNormAgreesWithFormula) {
  using T = TypeParam;
  for (int64_t columns : {1, 8, 15, 17, 48, 64, 128, 200})
    for (int variant = 0; variant < 4; ++variant) {
      RmsNormParams p{};
      p.rows = 37, p.columns = columns, p.xStride = columns + 3, p.yStride = columns;
      p.dxStride = columns + 1, p.rowsPerItem = 5, p.hasWeight = variant & 1;
      p.epsOutside = variant >> 1, p.eps = 1e-2;
      Reference r(p.rows, columns);
      if (p.epsOutside)
        std::fill(r.x.begin(), r.x.begin() + columns, 0); // the gradient there is defined
      r.rmsnorm(p);
      Tensor<T> x(r.x, p.rows, columns, p.xStride), w(r.w, 1, columns);
      Tensor<T> dy(r.dy, p.rows, columns, p.yStride), y(p.rows, columns, p.yStride), y2 = y;
      callWhole<RmsNormParams>(rmsnorm_forward<T>, p.rows, {x.data(), w.data(), y.data()}, p);
      callInPieces<RmsNormParams>(rmsnorm_forward<T>, p.rows, {x.data(), w.data(), y2.data()}, p);
      EXPECT_TRUE(y.sameBits(y2) && y.guardsIntact());
      EXPECT_LT(relativeError(y.values(), r.y), tolerance<T>(1e-6)) << columns << variant;
      int64_t grid = ceilDiv(p.rows, p.rowsPerItem);
      Tensor<T> dx(p.rows, columns, p.dxStride), dx2 = dx, partial(grid, columns),
                                                 partial2 = partial;
      callWhole<RmsNormParams>(rmsnorm_backward<T>, grid,
                               {x.data(), w.data(), dy.data(), partial.data(), dx.data()}, p);
      callInPieces<RmsNormParams>(rmsnorm_backward<T>, grid,
                                  {x.data(), w.data(), dy.data(), partial2.data(), dx2.data()}, p);
      EXPECT_TRUE(dx.sameBits(dx2) && partial.sameBits(partial2));
      EXPECT_TRUE(dx.guardsIntact() && partial.guardsIntact());
      EXPECT_LT(relativeError(dx.values(), r.dx), tolerance<T>(2e-6)) << columns << variant;
      if (p.hasWeight) {
        EXPECT_LT(relativeError(summed(partial.data(), grid, columns, columns), r.dw),
                  tolerance<T>(2e-6));
      }
    }
}

TYPED_TEST(Norm, LayerNormAgreesWithFormula) {
  using T = TypeParam;
  for (int64_t columns : {1, 2, 8, 17, 48, 128, 200})
    for (int variant = 0; variant < 4; ++variant) {
      LayerNormParams p{};
      p.rows = 21, p.columns = columns, p.xStride = columns, p.yStride = columns + 2;
      p.dxStride = columns + 1, p.rowsPerItem = 4, p.hasWeight = variant & 1;
      p.hasBias = variant >> 1, p.eps = 1e-3;
      Reference r(p.rows, columns);
      if (columns > 2) // the mean of two close values cannot be rounded well enough
        for (double &v : r.x)
          v = static_cast<double>(
              static_cast<float>(v + 8)); // a mean that a careless variance would trip over
      r.layernorm(p);
      Tensor<T> x(r.x, p.rows, columns, p.xStride), w(r.w, 1, columns), b(r.b, 1, columns);
      Tensor<T> dy(r.dy, p.rows, columns, p.yStride), y(p.rows, columns, p.yStride), y2 = y;
      callWhole<LayerNormParams>(layernorm_forward<T>, p.rows,
                                 {x.data(), w.data(), b.data(), y.data()}, p);
      callInPieces<LayerNormParams>(layernorm_forward<T>, p.rows,
                                    {x.data(), w.data(), b.data(), y2.data()}, p);
      EXPECT_TRUE(y.sameBits(y2) && y.guardsIntact());
      EXPECT_LT(relativeError(y.values(), r.y), tolerance<T>(4e-6)) << columns << variant;
      int64_t grid = ceilDiv(p.rows, p.rowsPerItem);
      Tensor<T> dx(p.rows, columns, p.dxStride), dx2 = dx;
      Tensor<T> partial(grid, 2 * columns), partial2 = partial;
      callWhole<LayerNormParams>(layernorm_backward<T>, grid,
                                 {x.data(), w.data(), dy.data(), partial.data(), dx.data()}, p);
      callInPieces<LayerNormParams>(layernorm_backward<T>, grid,
                                    {x.data(), w.data(), dy.data(), partial2.data(), dx2.data()},
                                    p);
      EXPECT_TRUE(dx.sameBits(dx2) && partial.sameBits(partial2));
      EXPECT_TRUE(dx.guardsIntact() && partial.guardsIntact());
      if (columns > 2) { // for one or two columns the exact gradient is all but zero
        EXPECT_LT(relativeError(dx.values(), r.dx), tolerance<T>(1e-5)) << columns << variant;
      }
      Doubles dw = summed(partial.data(), grid, columns, 2 * columns);
      Doubles db = summed(partial.data() + columns, grid, columns, 2 * columns);
      EXPECT_LT(relativeError(dw, r.dw), tolerance<T>(4e-6)) << columns;
      EXPECT_LT(relativeError(db, r.db), tolerance<T>(2e-6));
    }
}

TYPED_TEST(Norm, SumOfPartialsIsPairwise) {
  using T = TypeParam;
  for (int64_t count : {0, 1, 7, 8, 9, 100, 1025})
    for (int64_t columns : {1, 16, 37}) {
      int64_t stride = columns + 3;
      Doubles values = randomDoubles(count * columns, 9), expected(static_cast<size_t>(columns), 0);
      for (size_t i = 0; i < values.size(); ++i)
        expected[i % static_cast<size_t>(columns)] += values[i];
      Tensor<T> partial(values, count, columns, stride);
      EXPECT_LT(relativeError(summed(partial.data(), count, columns, stride), expected),
                tolerance<T>(1e-6));
    }
  // A million equal terms: a running f32 sum would be off by a percent.
  int64_t count = 1 << 20;
  Tensor<T> partial(Doubles(static_cast<size_t>(count), static_cast<double>(0.1f)), count, 1);
  double expected = static_cast<double>(0.1f) * static_cast<double>(count);
  EXPECT_NEAR(summed(partial.data(), count, 1, 1)[0], expected, expected * 3e-7);
}

} // namespace
