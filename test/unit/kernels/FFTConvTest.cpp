//===- FFTConvTest.cpp - gated long convolution against the direct sum ----===//
#include "codegen/kernels/FFTConv.h"
#include "FFTConvReference.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

HYBRID_DECLARE_KERNEL(fft_table, FFTTableParams)
HYBRID_DECLARE_KERNEL(fftconv_spectrum, FFTConvParams)
HYBRID_DECLARE_KERNEL(fftconv_forward, FFTConvParams)
HYBRID_DECLARE_KERNEL(fftconv_backward, FFTConvParams)

namespace {

using Case = FFTConvCase;
using Reference = FFTConvReference;

template <typename T> void check(const Case &c) {
  SCOPED_TRACE(testing::Message() << "batch " << c.batch << " length " << c.length << " channels "
                                  << c.channels << " taps " << c.taps << " skip " << c.skip
                                  << " gates " << c.gateIn << c.gateOut << " segments "
                                  << c.segments);
  Reference r(c);
  int64_t rows = c.batch * c.length, wide = c.channels + 5;
  FFTConvParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.taps = c.taps;
  p.points = convolutionPoints(c.length, c.taps);
  p.xStride = wide, p.gateInStride = c.channels + 3, p.gateOutStride = c.channels;
  p.yStride = c.channels + 1, p.dxStride = c.channels + 2, p.dGateInStride = c.channels + 7;
  p.dGateOutStride = c.channels;
  p.hasSkip = c.skip, p.hasGateIn = c.gateIn, p.hasGateOut = c.gateOut, p.hasSegments = c.segments;

  Tensor<T> x(r.x, rows, c.channels, p.xStride), filter(r.filter, c.taps, c.channels);
  Tensor<T> skip, gateIn, gateOut;
  if (c.skip)
    skip = Tensor<T>(r.skip, 1, c.channels);
  if (c.gateIn)
    gateIn = Tensor<T>(r.gateIn, rows, c.channels, p.gateInStride);
  if (c.gateOut)
    gateOut = Tensor<T>(r.gateOut, rows, c.channels, p.gateOutStride);
  void *segments = c.segments ? r.segments.data() : nullptr;
  Tensor<T> twiddles(1, fftTableElements(p.points));
  Tensor<T> spectrum(1, FFTConvSpectrumElements::onCpu<T>(p));
  int64_t blocks = ceilDiv(c.channels, lanes<T>);
  callWhole<FFTTableParams>(fft_table<T>, 1, {twiddles.data()}, {p.points});
  callInPieces<FFTConvParams>(fftconv_spectrum<T>, blocks,
                              {filter.data(), twiddles.data(), spectrum.data()}, p);
  EXPECT_TRUE(twiddles.guardsIntact() && spectrum.guardsIntact());

  double bound = tolerance<T>(2e-6);
  int64_t grid = blocks * c.batch;
  Tensor<T> y(rows, c.channels, p.yStride), again = y;
  auto forward = [&](Tensor<T> &out) -> std::vector<void *> {
    return {x.data(),       spectrum.data(), twiddles.data(), skip.data(), gateIn.data(),
            gateOut.data(), segments,        filter.data(),   out.data()};
  };
  callWhole(fftconv_forward<T>, grid, forward(y), p, scratchOf<FFTConvForward, T>(p));
  callInPieces(fftconv_forward<T>, grid, forward(again), p, scratchOf<FFTConvForward, T>(p));
  EXPECT_TRUE(y.guardsIntact());
  EXPECT_TRUE(y.sameBits(again)) << "depends on the split";
  EXPECT_LT(relativeError(y.values(), r.y), bound);

  Tensor<T> dy(r.dy, rows, c.channels, p.yStride);
  struct Gradients {
    Tensor<T> dx, dFilter, dSkip, dGateIn, dGateOut;
  };
  auto gradients = [&] {
    Gradients g{Tensor<T>(rows, c.channels, p.dxStride), Tensor<T>(c.taps, c.channels), {}, {}, {}};
    if (c.skip)
      g.dSkip = Tensor<T>(1, c.channels);
    if (c.gateIn)
      g.dGateIn = Tensor<T>(rows, c.channels, p.dGateInStride);
    if (c.gateOut)
      g.dGateOut = Tensor<T>(rows, c.channels, p.dGateOutStride);
    return g;
  };
  auto backward = [&](Gradients &g) -> std::vector<void *> {
    return {x.data(),         spectrum.data(), twiddles.data(),  skip.data(),      gateIn.data(),
            gateOut.data(),   segments,        filter.data(),    dy.data(),        g.dx.data(),
            g.dFilter.data(), g.dSkip.data(),  g.dGateIn.data(), g.dGateOut.data()};
  };
  Gradients g = gradients(), split = gradients();
  callWhole(fftconv_backward<T>, blocks, backward(g), p, scratchOf<FFTConvBackward, T>(p));
  callInPieces(fftconv_backward<T>, blocks, backward(split), p, scratchOf<FFTConvBackward, T>(p));
  EXPECT_TRUE(g.dx.sameBits(split.dx) && g.dFilter.sameBits(split.dFilter));
  EXPECT_TRUE(g.dx.guardsIntact() && g.dFilter.guardsIntact());
  EXPECT_LT(relativeError(g.dx.values(), r.dx), bound);
  EXPECT_LT(relativeError(g.dFilter.values(), r.dFilter), bound);
  if (c.skip) {
    EXPECT_LT(relativeError(g.dSkip.values(), r.dSkip), bound);
  }
  if (c.gateIn) {
    EXPECT_TRUE(g.dGateIn.guardsIntact());
    EXPECT_LT(relativeError(g.dGateIn.values(), r.dGateIn), bound);
  }
  if (c.gateOut) {
    EXPECT_TRUE(g.dGateOut.guardsIntact());
    EXPECT_LT(relativeError(g.dGateOut.values(), r.dGateOut), bound);
  }
}

template <typename T> struct FFTConv : testing::Test {};
TYPED_TEST_SUITE(FFTConv, Scalars);

TYPED_TEST(FFTConv, AgreesWithDirectSumForEveryTransformSize) {
  // Transform sizes 4 to 2048: every leaf, and every mixture of stages.
  for (int64_t length : {1, 2, 3, 5, 8, 9, 17, 33, 64, 65, 127, 128, 256, 300, 513, 1000})
    check<TypeParam>({2, length, 8, length, true, true, true, false});
}
TYPED_TEST(FFTConv, AgreesForOddShapes) {
  for (int64_t channels : {1, 8, 17, 48})
    for (int64_t batch : {1, 2, 3})
      check<TypeParam>({batch, 33, channels, 33, true, true, true, false});
  check<TypeParam>({1, 4000, 1, 4000, true, false, false, false});
}
TYPED_TEST(FFTConv, AgreesForShortFilters) {
  for (int64_t taps : {1, 2, 9, 24, 100})
    for (int64_t length : {100, 127, 250})
      check<TypeParam>({3, length, 8, taps, false, true, false, false});
}
TYPED_TEST(FFTConv, AgreesWithAndWithoutGatesAndSkip) {
  for (int mask = 0; mask < 8; ++mask)
    check<TypeParam>({3, 40, 17, 9, (mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, false});
}
TYPED_TEST(FFTConv, KeepsSegmentsApart) {
  for (int64_t length : {1, 2, 5, 33, 127})
    for (int64_t batch : {1, 3})
      check<TypeParam>({batch, length, 17, length, true, true, true, true});
  check<TypeParam>({2, 127, 8, 20, true, false, true, true});
  check<TypeParam>({2, 127, 8, 20, false, true, false, true});
}

} // namespace
