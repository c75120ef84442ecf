//===- FFTConvTest.cpp - gated long convolution against the direct sum ----===//
#include "KernelTest.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

HYBRID_DECLARE_KERNEL(fftconv_twiddles, FFTConvParams)
HYBRID_DECLARE_KERNEL(fftconv_spectrum, FFTConvParams)
HYBRID_DECLARE_KERNEL(fftconv_forward, FFTConvParams)
HYBRID_DECLARE_KERNEL(fftconv_backward, FFTConvParams)

namespace {

struct Case {
  int64_t batch, length, channels, taps;
  bool skip, gateIn, gateOut, segments;
};

/// Operands in double, and the reference: y, and the gradients of sum(y * dy).
struct Reference {
  Doubles x, filter, skip, gateIn, gateOut, dy;
  std::vector<int32_t> segments;
  Doubles y, dx, dFilter, dSkip, dGateIn, dGateOut;

  explicit Reference(const Case &c) {
    int64_t rows = c.batch * c.length, size = rows * c.channels;
    x = randomDoubles(size, 1), filter = randomDoubles(c.taps * c.channels, 2, 0.3);
    skip = randomDoubles(c.channels, 3), dy = randomDoubles(size, 6);
    gateIn = randomDoubles(size, 4), gateOut = randomDoubles(size, 5);
    segments.assign(static_cast<size_t>(rows), 0);
    for (int64_t r = 0; r < rows; ++r) {
      // Runs of uneven lengths, with ids that come back.
      int64_t t = r % c.length, b = r / c.length;
      segments[static_cast<size_t>(r)] = static_cast<int32_t>(
          t < 3 ? 0 : t * (b + 2) / (c.length / 2 + 3) + (t > 50) - 2 * (t > 90));
    }
    y = dx = dGateIn = dGateOut = Doubles(static_cast<size_t>(size));
    dFilter.assign(filter.size(), 0), dSkip.assign(skip.size(), 0);
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t ch = 0; ch < c.channels; ++ch)
        sequence(c, b, ch);
  }

private:
  void sequence(const Case &c, int64_t b, int64_t ch) {
    auto at = [&](int64_t t) { return static_cast<size_t>((b * c.length + t) * c.channels + ch); };
    auto tap = [&](int64_t s) { return static_cast<size_t>(s * c.channels + ch); };
    auto channel = static_cast<size_t>(ch);
    Doubles w(static_cast<size_t>(c.length)), dw(w.size());
    for (int64_t t = 0; t < c.length; ++t)
      w[static_cast<size_t>(t)] = x[at(t)] * (c.gateIn ? gateIn[at(t)] : 1);
    for (int64_t t = 0, start = 0; t < c.length; ++t) {
      const int32_t *ids = segments.data() + b * c.length;
      if (c.segments && ids[t] != ids[start])
        start = t;
      double sum = c.skip ? skip[channel] * w[static_cast<size_t>(t)] : 0;
      double ds = dy[at(t)] * (c.gateOut ? gateOut[at(t)] : 1);
      for (int64_t s = 0; s < c.taps && t - s >= start; ++s) {
        auto u = static_cast<size_t>(t - s);
        sum += filter[tap(s)] * w[u];
        dw[u] += ds * filter[tap(s)];
        dFilter[tap(s)] += ds * w[u];
      }
      if (c.skip) {
        dw[static_cast<size_t>(t)] += ds * skip[channel];
        dSkip[channel] += ds * w[static_cast<size_t>(t)];
      }
      y[at(t)] = sum * (c.gateOut ? gateOut[at(t)] : 1);
      dGateOut[at(t)] = dy[at(t)] * sum;
    }
    for (int64_t t = 0; t < c.length; ++t) {
      dx[at(t)] = dw[static_cast<size_t>(t)] * (c.gateIn ? gateIn[at(t)] : 1);
      dGateIn[at(t)] = dw[static_cast<size_t>(t)] * x[at(t)];
    }
  }
};

template <typename T> void check(const Case &c) {
  SCOPED_TRACE(testing::Message() << "batch " << c.batch << " length " << c.length << " channels "
                                  << c.channels << " taps " << c.taps << " skip " << c.skip
                                  << " gates " << c.gateIn << c.gateOut << " segments "
                                  << c.segments);
  Reference r(c);
  int64_t rows = c.batch * c.length, wide = c.channels + 5;
  FFTConvParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.taps = c.taps;
  p.transformSize = fftconvTransformSize(c.length, c.taps);
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
  Tensor<T> twiddles(1, fftconvTwiddleElements<T>(p.transformSize));
  Tensor<T> spectrum(1, fftconvSpectrumElements<T>(p));
  int64_t blocks = ceilDiv(c.channels, lanes<T>);
  FFTConvParams tableParams{};
  tableParams.transformSize = p.transformSize;
  callWhole<FFTConvParams>(fftconv_twiddles<T>, 1, {twiddles.data()}, tableParams);
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
  callWhole(fftconv_forward<T>, grid, forward(y), p, fftconvForwardScratch<T>(p));
  callInPieces(fftconv_forward<T>, grid, forward(again), p, fftconvForwardScratch<T>(p));
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
  callWhole(fftconv_backward<T>, blocks, backward(g), p, fftconvBackwardScratch<T>(p));
  callInPieces(fftconv_backward<T>, blocks, backward(split), p, fftconvBackwardScratch<T>(p));
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
