//===- ToeplitzConvTest.cpp - convolution by matrix units, against the sum ----===//
#include "codegen/kernels/cuda/FFTConvToeplitz.cuh"
#include "test/unit/cuda/KernelTest.h"
#include "test/unit/kernels/FFTConvReference.h"

using namespace hybrid;
using namespace hybrid::cuda;
using namespace hybrid::cuda::test;
using hybrid::cpu::test::FFTConvCase;
using hybrid::cpu::test::FFTConvReference;
using hybrid::cpu::test::relativeError;
using hybrid::cpu::test::Tensor;

namespace {

struct Shape {
  int64_t batch, length, channels, taps, splits = 1, skip = 1, gateIn = 1, gateOut = 1;
};

constexpr ToeplitzConvParams paramsOf(const Shape &s) {
  return {.batch = s.batch,
          .length = s.length,
          .channels = s.channels,
          .taps = s.taps,
          .splits = s.splits,
          .xStride = s.channels + 5,
          .gateInStride = s.channels + 3,
          .gateOutStride = s.channels,
          .yStride = s.channels + 1,
          .dxStride = s.channels + 2,
          .dGateInStride = s.channels + 7,
          .dGateOutStride = s.channels,
          .hasSkip = s.skip,
          .hasGateIn = s.gateIn,
          .hasGateOut = s.gateOut};
}

template <Shape shape> void check() {
  constexpr ToeplitzConvParams P = paramsOf(shape);
  SCOPED_TRACE(testing::Message() << "batch " << P.batch << " length " << P.length << " channels "
                                  << P.channels << " taps " << P.taps << " splits " << P.splits);
  constexpr double bound = 6e-3; // activations are rounded to 8 bits
  const FFTConvReference r(FFTConvCase{P.batch, P.length, P.channels, P.taps, P.hasSkip != 0,
                                       P.hasGateIn != 0, P.hasGateOut != 0, false});
  const int64_t rows = P.batch * P.length;
  using F = Tensor<float>;
  F x(r.x, rows, P.channels, P.xStride), filter(r.filter, P.taps, P.channels), skip, gateIn,
      gateOut, dy(r.dy, rows, P.channels, P.yStride);
  F y(rows, P.channels, P.yStride), dx(rows, P.channels, P.dxStride), dGateIn, dGateOut,
      partial(P.splits, P.taps * P.channels);
  if (P.hasSkip)
    skip = F(r.skip, 1, P.channels);
  if (P.hasGateIn)
    gateIn = F(r.gateIn, rows, P.channels, P.gateInStride),
    dGateIn = F(rows, P.channels, P.dGateInStride);
  if (P.hasGateOut)
    gateOut = F(r.gateOut, rows, P.channels, P.gateOutStride),
    dGateOut = F(rows, P.channels, P.dGateOutStride);

  const int64_t items = toeplitzGroups(P) * P.splits;
  run("toeplitzConvForward", items, toeplitzThreads(P, false), sharedBytes(P, 1),
      [&](int64_t item) {
        toeplitzConvForward<float, P>(item, x.data(), filter.data(), skip.data(), gateIn.data(),
                                      gateOut.data(), y.data());
      });
  EXPECT_TRUE(y.guardsIntact());
  EXPECT_LT(relativeError(y.values(), r.y), bound);

  run("toeplitzConvBackward", items, toeplitzThreads(P, true), sharedBytes(P, 2),
      [&](int64_t item) {
        toeplitzConvBackward<float, P>(item, x.data(), filter.data(), skip.data(), gateIn.data(),
                                       gateOut.data(), dy.data(), dx.data(), partial.data(),
                                       dGateIn.data(), dGateOut.data());
      });
  EXPECT_TRUE(dx.guardsIntact() && partial.guardsIntact() && dGateIn.guardsIntact() &&
              dGateOut.guardsIntact());
  EXPECT_LT(relativeError(dx.values(), r.dx), bound);
  if (P.hasGateIn) {
    EXPECT_LT(relativeError(dGateIn.values(), r.dGateIn), bound);
  }
  if (P.hasGateOut) {
    EXPECT_LT(relativeError(dGateOut.values(), r.dGateOut), bound);
  }
  hybrid::cpu::test::Doubles dFilter(static_cast<size_t>(P.taps * P.channels));
  for (int64_t split = 0; split < P.splits; ++split)
    for (int64_t i = 0; i < P.taps * P.channels; ++i)
      dFilter[static_cast<size_t>(i)] += partial.at(split, i);
  EXPECT_LT(relativeError(dFilter, r.dFilter), bound);
  if (P.hasSkip) {
    dFilter.resize(static_cast<size_t>(P.channels));
    EXPECT_LT(relativeError(dFilter, r.dSkip), bound);
  }
}

TEST(CudaToeplitzConv, AgreesForEveryPanel) {
  check<Shape{8, 1, 8, 1}>();
  check<Shape{8, 16, 8, 16}>();
  check<Shape{3, 32, 8, 32}>();
  check<Shape{9, 64, 8, 64, 2}>();
  check<Shape{8, 128, 8, 128}>();
  check<Shape{2, 250, 8, 250}>();
  check<Shape{9, 256, 9, 256, 2}>();
}
TEST(CudaToeplitzConv, AgreesForOddShapes) {
  check<Shape{17, 33, 17, 33, 3}>();
  check<Shape{5, 100, 3, 100}>();
  check<Shape{1, 131, 7, 131}>();
  check<Shape{20, 7, 9, 7, 4}>(); // a split without rows
}
TEST(CudaToeplitzConv, AgreesForShortFilters) {
  check<Shape{3, 200, 8, 1}>();
  check<Shape{3, 200, 8, 2}>();
  check<Shape{3, 130, 8, 17}>();
  check<Shape{3, 192, 8, 66}>();
}
TEST(CudaToeplitzConv, AgreesWithAndWithoutGatesAndSkip) {
  check<Shape{3, 40, 8, 9, 1, 0, 0, 0}>();
  check<Shape{3, 40, 8, 40, 1, 1, 0, 1}>();
  check<Shape{3, 140, 8, 140, 1, 0, 1, 0}>();
}

TEST(CudaToeplitzConv, IsChosenWhereItIsFaster) {
  auto chosen = [](int64_t length, bool rounds, int64_t segments = 0, int64_t lanes = 8,
                   int64_t signals = 2, int64_t sharedBytes = 227 << 10) {
    FFTConvParams p{};
    p.length = length, p.hasSegments = segments, p.lanes = lanes;
    return convAlgorithm(p, signals, rounds, sharedBytes);
  };
  EXPECT_EQ(chosen(256, true), ConvAlgorithm::Toeplitz);
  EXPECT_EQ(chosen(257, true), ConvAlgorithm::Blocks);
  EXPECT_EQ(chosen(128, false), ConvAlgorithm::Blocks);
  EXPECT_EQ(chosen(128, true, 1), ConvAlgorithm::Blocks);
  EXPECT_EQ(chosen(1 << 20, true, 0, 0), ConvAlgorithm::Parts);
  // On a smaller GPU two long signals do not fit.
  EXPECT_EQ(chosen(256, true, 0, 8, 2, 99 << 10), ConvAlgorithm::Blocks);
  EXPECT_EQ(chosen(256, true, 0, 8, 1, 99 << 10), ConvAlgorithm::Toeplitz);
}

} // namespace
