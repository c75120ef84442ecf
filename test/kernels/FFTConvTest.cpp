//===- FFTConvTest.cpp - long convolution against the direct sum ------------===//
#include "codegen/kernels/FFTConv.h"
#include "test/kernels/FFTConvReference.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/FFTConv.cuh"
HYBRID_TEST_KERNEL(FFTConvFilterGradient, , fftconvFilterGradient)
HYBRID_TEST_KERNEL(FFTTwiddles, , fftTwiddles)
#else
HYBRID_TEST_KERNEL(FFTTable, fft_table, )
#endif

HYBRID_TEST_KERNEL(FFTConvSpectrum, fftconv_spectrum, fftconvSpectrum)
HYBRID_TEST_KERNEL(FFTConvForward, fftconv_forward, fftconvForward)
HYBRID_TEST_KERNEL(FFTConvBackward, fftconv_backward, fftconvBackward)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch, length, channels, taps, lanes = 1, splits = 1;
  bool skip = true, gateIn = true, gateOut = true, segments = false;
  int64_t threads = 32, wide = 0;
};

constexpr FFTConvParams paramsOf(const Case &c) {
  return {.batch = c.batch,
          .length = c.length,
          .channels = c.channels,
          .taps = c.taps,
          .points = convolutionPoints(c.length, c.taps),
          .lanes = c.lanes,
          .splits = c.splits,
          .blockThreads = c.threads,
          .wide = c.wide,
          .xStride = c.channels + 5,
          .gateInStride = c.channels + 3,
          .gateOutStride = c.channels,
          .yStride = c.channels + 1,
          .dxStride = c.channels + 2,
          .dGateInStride = c.channels + 7,
          .dGateOutStride = c.channels,
          .hasSkip = c.skip,
          .hasGateIn = c.gateIn,
          .hasGateOut = c.gateOut,
          .hasSegments = c.segments};
}

template <typename T, typename Of> void check(const Of &of) {
  const FFTConvParams p = paramsOf(of.value);
  SCOPED_TRACE(testing::Message() << "batch " << p.batch << " length " << p.length << " channels "
                                  << p.channels << " taps " << p.taps << " points " << p.points
                                  << " lanes " << p.lanes << " splits " << p.splits << " skip "
                                  << p.hasSkip << " gates " << p.hasGateIn << p.hasGateOut
                                  << " segments " << p.hasSegments << " f" << 8 * sizeof(T));
  constexpr auto params = [](const Case &c) { return paramsOf(c); };
  FFTConvTensors<T, FFTConvParams> o(p, p.hasSegments != 0);
  const int64_t elements = decided<FFTConvSpectrumElements, T>(p);
  Tensor<T> spectrum(1, elements), dFilter(p.taps, p.channels);
  // What forward and backward start with.
  auto operands = [&](auto call) {
    call(o.x.data(), spectrum.data(), o.skip.data(), o.gateIn.data(), o.gateOut.data());
  };
#ifdef HYBRID_CUDA_SHIM
  Tensor<T> twiddles(1, 2 * p.points);
  launch<FFTTwiddles, T>(
      of,
      [](const Case &c) {
        const int64_t points = paramsOf(c).points;
        return FFTTwiddleParams{points, 1, 4 * points};
      },
      {&twiddles}, twiddles.data());
#else
  Tensor<T> twiddles(1, fftTableElements(p.points));
  launch<FFTTable, T>(
      of, [](const Case &c) { return FFTTableParams{paramsOf(c).points}; }, {&twiddles},
      twiddles.data());
#endif
  launch<FFTConvSpectrum, T>(of, params, {&spectrum}, o.filter.data(), twiddles.data(),
                             spectrum.data());
  const double bound = tolerance<T>(2e-6);
#ifdef HYBRID_CUDA_SHIM
  Tensor<T> partial(p.splits, elements);
  operands([&](T *x, T *spectrum, T *skip, T *gateIn, T *gateOut) {
    launch<FFTConvForward, T>(of, params, {&o.y}, x, spectrum, twiddles.data(), skip, gateIn,
                              gateOut, o.segments, o.y.data());
    launch<FFTConvBackward, T>(of, params, {&o.dx, &partial, &o.dGateIn, &o.dGateOut}, x, spectrum,
                               twiddles.data(), skip, gateIn, gateOut, o.segments, o.dy.data(),
                               o.dx.data(), partial.data(), o.dGateIn.data(), o.dGateOut.data());
  });
  launch<FFTConvFilterGradient, T>(of, params, {&dFilter, &o.dSkip}, partial.data(),
                                   twiddles.data(), dFilter.data(), o.dSkip.data());
#else
  operands([&](T *x, T *spectrum, T *skip, T *gateIn, T *gateOut) {
    launch<FFTConvForward, T>(of, params, {&o.y}, x, spectrum, twiddles.data(), skip, gateIn,
                              gateOut, o.segments, o.filter.data(), o.y.data());
    launch<FFTConvBackward, T>(of, params, {&o.dx, &dFilter, &o.dSkip, &o.dGateIn, &o.dGateOut}, x,
                               spectrum, twiddles.data(), skip, gateIn, gateOut, o.segments,
                               o.filter.data(), o.dy.data(), o.dx.data(), dFilter.data(),
                               o.dSkip.data(), o.dGateIn.data(), o.dGateOut.data());
  });
#endif
  EXPECT_LT(relativeError(o.y.values(), o.r.y), bound);
  o.expectGradients(bound);
  EXPECT_LT(relativeError(dFilter.values(), o.r.dFilter), bound);
  if (p.hasSkip) {
    EXPECT_LT(relativeError(o.dSkip.values(), o.r.dSkip), bound);
  }
}

template <typename T> struct FFTConv : testing::Test {
  template <const auto &cases> static void checkAll() {
    forEachCase<cases>([](const auto &of) { check<T>(of); });
  }
};
TYPED_TEST_SUITE(FFTConv, Scalars);

constexpr Case sizes[] = {
    {.batch = 1, .length = 1, .channels = 3, .taps = 1, .lanes = 1},
    {.batch = 2, .length = 33, .channels = 8, .taps = 33, .lanes = 8},
    {.batch = 2, .length = 64, .channels = 5, .taps = 64, .lanes = 4},
    {.batch = 2, .length = 128, .channels = 2, .taps = 128, .lanes = 1, .splits = 2},
    {.batch = 2, .length = 250, .channels = 8, .taps = 250, .lanes = 8, .threads = 64},
    {.batch = 2, .length = 300, .channels = 2, .taps = 300, .lanes = 2, .threads = 64},
    {.batch = 1,
     .length = 1000,
     .channels = 2,
     .taps = 1000,
     .gateIn = false,
     .gateOut = false,
     .threads = 64},
    {.batch = 1,
     .length = 4000,
     .channels = 1,
     .taps = 4000,
     .skip = false,
     .gateOut = false,
     .threads = 128},
    // Stages of radix 32.
    {.batch = 2, .length = 400, .channels = 2, .taps = 400, .wide = 1},
    {.batch = 1,
     .length = 1000,
     .channels = 3,
     .taps = 1000,
     .lanes = 2,
     .threads = 64,
     .wide = 1}};
TYPED_TEST(FFTConv, AgreesForEveryTransformSize) {
  TestFixture::template checkAll<sizes>();
  // Transform sizes 4 to 2048: every leaf, and every mixture of stages.
  if constexpr (!onCuda)
    for (int64_t length : {1, 2, 3, 5, 8, 9, 17, 33, 64, 65, 127, 128, 256, 300, 513, 1000})
      check<TypeParam>(Given{Case{.batch = 2, .length = length, .channels = 8, .taps = length}});
}

constexpr Case shapes[] = {
    {.batch = 3, .length = 33, .channels = 17, .taps = 33, .lanes = 16, .splits = 2},
    {.batch = 5, .length = 40, .channels = 33, .taps = 9, .lanes = 32, .splits = 3},
    {.batch = 3, .length = 100, .channels = 7, .taps = 100, .lanes = 2, .splits = 3},
    {.batch = 3, .length = 20, .channels = 75, .taps = 20, .lanes = 1, .splits = 2}}; // two bands
                                                                                      // of channels
TYPED_TEST(FFTConv, AgreesForOddShapes) {
  TestFixture::template checkAll<shapes>();
  if constexpr (!onCuda) {
    for (int64_t channels : {1, 8, 17, 48})
      for (int64_t batch : {1, 2, 3})
        check<TypeParam>(
            Given{Case{.batch = batch, .length = 33, .channels = channels, .taps = 33}});
    check<TypeParam>(Given{Case{.batch = 1,
                                .length = 4000,
                                .channels = 1,
                                .taps = 4000,
                                .gateIn = false,
                                .gateOut = false}});
  }
}

constexpr Case shortFilters[] = {
    {.batch = 3,
     .length = 100,
     .channels = 8,
     .taps = 1,
     .lanes = 8}, // positions behind the transform's points
    {.batch = 3, .length = 127, .channels = 8, .taps = 24, .lanes = 4, .splits = 2},
    {.batch = 2, .length = 64, .channels = 8, .taps = 2, .lanes = 8}};
TYPED_TEST(FFTConv, AgreesForShortFilters) {
  TestFixture::template checkAll<shortFilters>();
  if constexpr (!onCuda)
    for (int64_t taps : {1, 2, 9, 24, 100})
      for (int64_t length : {100, 127, 250})
        check<TypeParam>(Given{Case{.batch = 3,
                                    .length = length,
                                    .channels = 8,
                                    .taps = taps,
                                    .skip = false,
                                    .gateOut = false}});
}

constexpr Case surroundings[] = {
    {.batch = 3,
     .length = 40,
     .channels = 8,
     .taps = 9,
     .lanes = 8,
     .skip = false,
     .gateIn = false,
     .gateOut = false},
    {.batch = 3, .length = 40, .channels = 8, .taps = 9, .lanes = 8, .gateIn = false},
    {.batch = 3,
     .length = 40,
     .channels = 8,
     .taps = 9,
     .lanes = 8,
     .skip = false,
     .gateOut = false}};
TYPED_TEST(FFTConv, AgreesWithAndWithoutGatesAndSkip) {
  TestFixture::template checkAll<surroundings>();
  if constexpr (!onCuda)
    for (int mask = 0; mask < 8; ++mask)
      check<TypeParam>(Given{Case{.batch = 3,
                                  .length = 40,
                                  .channels = 17,
                                  .taps = 9,
                                  .skip = (mask & 1) != 0,
                                  .gateIn = (mask & 2) != 0,
                                  .gateOut = (mask & 4) != 0}});
}

constexpr Case segments[] = {
    {.batch = 3,
     .length = 127,
     .channels = 9,
     .taps = 127,
     .lanes = 8,
     .splits = 2,
     .segments = true},
    {.batch = 1, .length = 5, .channels = 9, .taps = 5, .lanes = 8, .segments = true},
    {.batch = 2,
     .length = 127,
     .channels = 8,
     .taps = 20,
     .lanes = 8,
     .gateIn = false,
     .segments = true,
     .threads = 64}};
TYPED_TEST(FFTConv, KeepsSegmentsApart) {
  TestFixture::template checkAll<segments>();
  if constexpr (!onCuda) {
    for (int64_t length : {1, 2, 5, 33, 127})
      for (int64_t batch : {1, 3})
        check<TypeParam>(Given{Case{
            .batch = batch, .length = length, .channels = 17, .taps = length, .segments = true}});
    check<TypeParam>(Given{Case{
        .batch = 2, .length = 127, .channels = 8, .taps = 20, .gateIn = false, .segments = true}});
    check<TypeParam>(Given{Case{.batch = 2,
                                .length = 127,
                                .channels = 8,
                                .taps = 20,
                                .skip = false,
                                .gateOut = false,
                                .segments = true}});
  }
}

} // namespace
