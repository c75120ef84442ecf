//===- SmallProductTest.cpp - small products against loops -------------------===//
//
// On CUDA; elsewhere a library computes them.
//
//===----------------------------------------------------------------------===//
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/SmallProduct.cuh"
#include "test/kernels/Launch.h"

HYBRID_TEST_KERNEL(SmallProduct, , smallProduct)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t rows, columns, inner, transposeA, transposeB, hasBias;
};

constexpr SmallProductParams paramsOf(const Case &c) {
  SmallProductParams p{};
  p.rows = c.rows, p.columns = c.columns, p.inner = c.inner;
  p.transposeA = c.transposeA, p.transposeB = c.transposeB;
  // Parts of wider tensors.
  p.aStride = (c.transposeA ? c.rows : c.inner) + 3;
  p.bStride = (c.transposeB ? c.inner : c.columns) + 1;
  p.yStride = c.columns + 2, p.hasBias = c.hasBias;
  return p;
}

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  const SmallProductParams p = paramsOf(c);
  SCOPED_TRACE(testing::Message() << c.rows << "x" << c.columns << " of " << c.inner
                                  << " terms, transposed " << c.transposeA << " " << c.transposeB
                                  << ", bias " << c.hasBias);
  const Doubles left = randomDoubles(c.rows * c.inner, 1),
                right = randomDoubles(c.inner * c.columns, 2), added = randomDoubles(c.columns, 3);
  Doubles expected;
  Tensor<T> a(left, c.transposeA ? c.inner : c.rows, c.transposeA ? c.rows : c.inner, p.aStride),
      b(right, c.transposeB ? c.columns : c.inner, c.transposeB ? c.inner : c.columns, p.bStride),
      bias(added, 1, c.columns), y(c.rows, c.columns, p.yStride);
  auto at = [](const Doubles &values, int64_t i) { return values[static_cast<size_t>(i)]; };
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j) {
      double sum = c.hasBias ? at(added, j) : 0;
      for (int64_t k = 0; k < c.inner; ++k)
        sum += at(left, c.transposeA ? k * c.rows + i : i * c.inner + k) *
               at(right, c.transposeB ? j * c.inner + k : k * c.columns + j);
      expected.push_back(sum);
    }
  launch<SmallProduct, T>(
      of, [](const Case &c) { return paramsOf(c); }, {&y}, a.data(), b.data(),
      c.hasBias ? bias.data() : nullptr, y.data());
  EXPECT_LT(relativeError(y.values(), expected), tolerance<T>(1e-6));
}

// One lane a result, several with and without a rest, and all; blocks that are not full.
constexpr Case cases[] = {{128, 4, 3, 0, 1, 1},  {5, 7, 4, 0, 0, 0},    {33, 9, 8, 1, 0, 1},
                          {16, 16, 31, 0, 1, 0}, {4, 4, 128, 1, 0, 0},  {3, 5, 100, 1, 1, 1},
                          {8, 4, 512, 0, 0, 0},  {2, 3, 1024, 1, 0, 1}, {1, 1, 1, 0, 0, 1}};

TEST(SmallProduct, MatchesLoops) {
  forEachCase<cases>([](const auto &of) { check<float>(of), check<double>(of); });
}

} // namespace
#endif
