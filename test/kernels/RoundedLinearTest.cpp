//===- RoundedLinearTest.cpp - products of bf16 against loops ----------------===//
//
// On CUDA; elsewhere a library computes them.
//
//===----------------------------------------------------------------------===//
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/RoundedLinear.cuh"
#include "test/kernels/RoundedTensor.h"

HYBRID_TEST_KERNEL(RoundedLinear, , roundedLinear)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t rows, inputs, outputs, transposed;
  int64_t rowTile = 0, columnTile = 0; // 0: what the rule says
};

constexpr RoundedLinearParams paramsOf(const Case &c) {
  RoundedLinearParams p{};
  p.rows = c.rows, p.inputs = c.inputs, p.outputs = c.outputs, p.transposed = c.transposed;
  // Parts of wider tensors.
  p.xStride = c.inputs + 16, p.weightStride = (c.transposed ? c.outputs : c.inputs) + 8;
  p.yStride = c.outputs + 3;
  p = RoundedLinearTiles::onCuda<float>(p, false);
  if (c.rowTile)
    p.rowTile = c.rowTile, p.columnTile = c.columnTile;
  return p;
}

template <typename Of> void check(const Of &of) {
  const Case c = of.value;
  const RoundedLinearParams p = paramsOf(c);
  SCOPED_TRACE(testing::Message() << c.rows << " rows, " << c.outputs << "x" << c.inputs
                                  << " transposed " << c.transposed << " tiles " << p.rowTile << "x"
                                  << p.columnTile);
  RoundedTensor x(c.rows * p.xStride, 1),
      w((c.transposed ? c.inputs : c.outputs) * p.weightStride, 2);
  Doubles y(static_cast<size_t>(c.rows * c.outputs), 0);
  auto at = [](const Doubles &values, int64_t i) { return values[static_cast<size_t>(i)]; };
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t i = 0; i < c.inputs; ++i)
        y[static_cast<size_t>(r * c.outputs + o)] +=
            at(x.values, r * p.xStride + i) *
            at(w.values, c.transposed ? i * p.weightStride + o : o * p.weightStride + i);
  Tensor<float> result(c.rows, c.outputs, p.yStride);
  launch<RoundedLinear, float>(
      of, [](const Case &c) { return paramsOf(c); }, {&result}, x.memory.data(), w.memory.data(),
      result.data());
  EXPECT_LT(relativeError(result.values(), y), 1e-6);
}

constexpr Case cases[] = {{256, 128, 128, 0, 128, 128},
                          {256, 128, 128, 1, 128, 128},
                          {300, 136, 200, 0, 128, 64},
                          {300, 136, 200, 1, 128, 64},
                          {37, 40, 24, 0},
                          {37, 40, 24, 1},
                          {1, 8, 8, 0},
                          {65, 24, 136, 1, 64, 32}};
TEST(RoundedLinears, MultiplyRowsWithAWeight) {
  forEachCase<cases>([](const auto &of) { check(of); });
}

} // namespace
#endif
