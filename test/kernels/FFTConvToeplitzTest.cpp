//===- FFTConvToeplitzTest.cpp - convolution by matrix units, against the sum ===//
//
// On CUDA.
//
//===----------------------------------------------------------------------===//
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/FFTConvToeplitz.cuh"
#include "test/kernels/FFTConvReference.h"

HYBRID_TEST_KERNEL(ToeplitzConvForward, , toeplitzConvForward)
HYBRID_TEST_KERNEL(ToeplitzConvBackward, , toeplitzConvBackward)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch, length, channels, taps, splits = 1, skip = 1, gateIn = 1, gateOut = 1,
                                         alignment = 1, lanes = 8;
};

constexpr ToeplitzConvParams paramsOf(const Case &s) {
  return {.batch = s.batch,
          .length = s.length,
          .channels = s.channels,
          .taps = s.taps,
          .splits = s.splits,
          .xStride = s.channels + 5 * s.alignment,
          .gateInStride = s.channels + 3 * s.alignment,
          .gateOutStride = s.channels,
          .yStride = s.channels + 1 * s.alignment,
          .dxStride = s.channels + 2 * s.alignment,
          .dGateInStride = s.channels + 7 * s.alignment,
          .dGateOutStride = s.channels,
          .hasSkip = s.skip,
          .hasGateIn = s.gateIn,
          .hasGateOut = s.gateOut,
          .alignment = s.alignment,
          .lanes = s.lanes};
}

template <typename Of> void check(const Of &of) {
  constexpr auto params = [](const Case &c) { return paramsOf(c); };
  const ToeplitzConvParams p = params(of.value);
  SCOPED_TRACE(testing::Message() << "batch " << p.batch << " length " << p.length << " channels "
                                  << p.channels << " taps " << p.taps << " splits " << p.splits);
  constexpr double bound = 6e-3; // activations are rounded to 8 bits
  FFTConvTensors<float, ToeplitzConvParams> o(p, false);
  Tensor<float> partial(p.splits, p.taps * p.channels);
  launch<ToeplitzConvForward, float>(of, params, {&o.y}, o.x.data(), o.filter.data(), o.skip.data(),
                                     o.gateIn.data(), o.gateOut.data(), o.y.data());
  EXPECT_LT(relativeError(o.y.values(), o.r.y), bound);
  launch<ToeplitzConvBackward, float>(of, params, {&o.dx, &partial, &o.dGateIn, &o.dGateOut},
                                      o.x.data(), o.filter.data(), o.skip.data(), o.gateIn.data(),
                                      o.gateOut.data(), o.dy.data(), o.dx.data(), partial.data(),
                                      o.dGateIn.data(), o.dGateOut.data());
  o.expectGradients(bound);
  Doubles dFilter(static_cast<size_t>(p.taps * p.channels));
  for (int64_t split = 0; split < p.splits; ++split)
    for (int64_t i = 0; i < p.taps * p.channels; ++i)
      dFilter[static_cast<size_t>(i)] += static_cast<double>(partial.at(split, i));
  EXPECT_LT(relativeError(dFilter, o.r.dFilter), bound);
  if (p.hasSkip) {
    dFilter.resize(static_cast<size_t>(p.channels));
    EXPECT_LT(relativeError(dFilter, o.r.dSkip), bound);
  }
}

template <const auto &cases> void checkAll() {
  forEachCase<cases>([](const auto &of) { check(of); });
}

constexpr Case panels[] = {{8, 1, 8, 1},       {8, 16, 8, 16},   {3, 32, 8, 32},
                           {9, 64, 8, 64, 2},  {8, 128, 8, 128}, {2, 250, 8, 250},
                           {9, 256, 9, 256, 2}};
TEST(ToeplitzConv, AgreesForEveryPanel) { checkAll<panels>(); }
constexpr Case shapes[] = {{17, 33, 17, 33, 3},
                           {5, 100, 3, 100},
                           {1, 131, 7, 131},
                           {20, 7, 9, 7, 4}}; // a split without rows
TEST(ToeplitzConv, AgreesForOddShapes) { checkAll<shapes>(); }
constexpr Case shortFilters[] = {{3, 200, 8, 1}, {3, 200, 8, 2}, {3, 130, 8, 17}, {3, 192, 8, 66}};
TEST(ToeplitzConv, AgreesForShortFilters) { checkAll<shortFilters>(); }
constexpr Case surroundings[] = {
    {3, 40, 8, 9, 1, 0, 0, 0}, {3, 40, 8, 40, 1, 1, 0, 1}, {3, 140, 8, 140, 1, 0, 1, 0}};
TEST(ToeplitzConv, AgreesWithAndWithoutGatesAndSkip) { checkAll<surroundings>(); }

// A thread has several channels of a position.
constexpr Case aligned[] = {{8, 128, 16, 128, 1, 1, 1, 1, 8, 16},
                            {11, 67, 32, 67, 2, 1, 1, 1, 8, 16},
                            {3, 256, 16, 256, 1, 0, 1, 0, 8},
                            {5, 16, 24, 9, 3, 1, 0, 1, 8},
                            {1, 1, 8, 1, 1, 1, 0, 0, 8}};
TEST(ToeplitzConv, AgreesForAlignedChannels) { checkAll<aligned>(); }

TEST(ToeplitzConv, IsChosenWhereItIsFaster) {
  auto chosen = [](int64_t length, bool rounds, int64_t segments = 0, int64_t lanes = 8,
                   int64_t signals = 2, int64_t sharedBytes = 227 << 10) {
    FFTConvParams p{};
    p.length = length, p.hasSegments = segments, p.lanes = lanes;
    return cuda::convAlgorithm(p, signals, rounds, sharedBytes);
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
#endif
