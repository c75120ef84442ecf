//===- FFTConvPartsTest.cpp - long convolution in two passes -----------------===//
//
// On CUDA; sequences that do not fit into shared memory.
//
//===----------------------------------------------------------------------===//
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/FFTConvParts.cuh"
#include "codegen/kernels/FFTConv.h"
#include "test/kernels/FFTConvReference.h"

HYBRID_TEST_KERNEL(FFTTwiddles, , fftTwiddles)
HYBRID_TEST_KERNEL(FFTConvSplit, , fftconvSplit)
HYBRID_TEST_KERNEL(FFTConvMerge, , fftconvMerge)
HYBRID_TEST_KERNEL(FFTConvSplitFilter, , fftconvSplitFilter)
HYBRID_TEST_KERNEL(FFTConvMergeFilter, , fftconvMergeFilter)
HYBRID_TEST_KERNEL(FFTConvInnerSpectrum, , fftconvInnerSpectrum)
HYBRID_TEST_KERNEL(FFTConvInnerForward, , fftconvInnerForward)
HYBRID_TEST_KERNEL(FFTConvInnerBackward, , fftconvInnerBackward)
HYBRID_TEST_KERNEL(FFTConvInnerGradient, , fftconvInnerGradient)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch, length, channels, taps, splits;
  bool skip, gateIn, gateOut;
  int64_t parts, tile, lanes = 8;
  int64_t goesOn = 0; // the backward pass is of two stretches with the same sequences
  int64_t walks = 1;
  // As FFTConvParams, which has them for the sequence as a whole.
  int64_t xStride = channels + 5, gateInStride = channels + 3, gateOutStride = channels,
          yStride = channels + 1, dxStride = channels + 2, dGateInStride = channels + 7,
          dGateOutStride = channels;
  int64_t hasSkip = skip, hasGateIn = gateIn, hasGateOut = gateOut;

  constexpr int64_t points() const { return convolutionPoints(length, taps); }
  constexpr int64_t inner() const { return points() / parts; }
  constexpr int64_t fine() const { return cuda::fineFactors(points()); }
};

constexpr FFTConvPartsParams partsOf(const Case &c, int64_t stride, int64_t hasFactor,
                                     int64_t factorStride) {
  FFTConvPartsParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.points = c.points();
  p.parts = c.parts, p.lanes = c.lanes, p.tile = c.tile;
  p.blockThreads = cuda::partsInRegisters(c.parts) ? c.tile * c.lanes : 64;
  p.stride = stride, p.hasFactor = hasFactor, p.factorStride = factorStride;
  return p;
}
constexpr auto ofInput = [](const Case &c) {
  return partsOf(c, c.xStride, c.hasGateIn, c.gateInStride);
};
constexpr auto ofOutput = [](const Case &c) {
  return partsOf(c, c.yStride, c.hasGateOut, c.gateOutStride);
};
constexpr auto ofFilter = [](const Case &c) {
  FFTConvPartsParams p = partsOf(c, c.channels, 0, 0);
  p.batch = 1, p.length = c.taps, p.hasFirst = c.hasSkip;
  return p;
};
constexpr auto ofInputGradient = [](const Case &c) {
  FFTConvPartsParams p = partsOf(c, c.dxStride, c.hasGateIn, c.gateInStride);
  p.hasSecond = c.hasGateIn, p.secondStride = c.dGateInStride, p.secondFactorStride = c.xStride;
  return p;
};
constexpr auto ofGateGradient = [](const Case &c) {
  return partsOf(c, c.dGateOutStride, 1, c.yStride);
};
constexpr auto innerOf = [](const Case &c) {
  FFTConvInnerParams p{};
  p.batch = c.batch, p.channels = c.channels, p.parts = c.parts, p.points = c.inner();
  p.splits = c.splits, p.walks = c.walks;
  p.scale = c.points() / cuda::innerRemainder(c.inner());
  p.hasSkip = c.hasSkip, p.hasGateOut = c.hasGateOut, p.goesOn = c.goesOn;
  return p;
};

template <typename T, typename Of, typename Params>
Tensor<T> twiddleTable(const Of &of, Params params) {
  Tensor<T> table(1, 2 * params(of.value).count);
  launch<FFTTwiddles, T>(of, params, {&table}, table.data());
  return table;
}

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << "batch " << c.batch << " length " << c.length << " channels "
                                  << c.channels << " taps " << c.taps << " points " << c.points()
                                  << " parts " << c.parts << " splits " << c.splits << " f"
                                  << 8 * sizeof(T));
  FFTConvTensors<T, Case> o(c, false);
  Tensor<T> outer = twiddleTable<T>(
                of, [](const Case &c) { return FFTTwiddleParams{c.parts, 1, 4 * c.parts}; }),
            inner = twiddleTable<T>(
                of, [](const Case &c) { return FFTTwiddleParams{c.inner(), 1, 4 * c.inner()}; }),
            fine = twiddleTable<T>(
                of, [](const Case &c) { return FFTTwiddleParams{c.fine(), 1, 4 * c.points()}; }),
            coarse = twiddleTable<T>(of, [](const Case &c) {
              return FFTTwiddleParams{4 * c.points() / c.fine(), c.fine(), 4 * c.points()};
            });
  const int64_t allParts = c.channels * c.parts, values = 2 * c.inner();
  T *none = nullptr;
  auto split = [&](auto params, const T *x, const T *gate, Tensor<T> &to) {
    launch<FFTConvSplit, T>(of, params, {&to}, x, gate, outer.data(), fine.data(), coarse.data(),
                            to.data());
  };
  auto merge = [&](const auto &of, auto params, Tensor<T> &from, const T *gate,
                   const T *secondFactor, Tensor<T> &y, T *second) {
    launch<FFTConvMerge, T>(of, params, {&y}, from.data(), gate, secondFactor, outer.data(),
                            fine.data(), coarse.data(), y.data(), second);
  };

  Tensor<T> filterParts(allParts, values), spectrum(allParts, values);
  launch<FFTConvSplitFilter, T>(of, ofFilter, {&filterParts}, o.filter.data(), outer.data(),
                                fine.data(), coarse.data(), filterParts.data());
  launch<FFTConvInnerSpectrum, T>(of, innerOf, {&spectrum}, filterParts.data(), inner.data(),
                                  spectrum.data());
  Tensor<T> signals(c.batch * allParts, values), cotangents = signals;
  split(ofInput, o.x.data(), o.gateIn.data(), signals);
  launch<FFTConvInnerForward, T>(of, innerOf, {&signals}, spectrum.data(), o.skip.data(),
                                 inner.data(), signals.data());
  merge(of, ofOutput, signals, o.gateOut.data(), none, o.y, none);
  const double bound = tolerance<T>(2e-6);
  EXPECT_LT(relativeError(o.y.values(), o.r.y), bound);

  Tensor<T> partial(c.splits * allParts, values), dFilter(c.taps, c.channels);
  if (c.goesOn)
    partial.assign(Tensor<T>(Doubles(static_cast<size_t>(c.splits * allParts * values), 0),
                             c.splits * allParts, values));
  for (int64_t stretch = 0; stretch <= c.goesOn; ++stretch) {
    split(ofInput, o.x.data(), o.gateIn.data(), signals);
    split(ofOutput, o.dy.data(), o.gateOut.data(), cotangents);
    launch<FFTConvInnerBackward, T>(of, innerOf, {&signals, &cotangents, &partial}, spectrum.data(),
                                    o.skip.data(), inner.data(), signals.data(), cotangents.data(),
                                    partial.data());
  }
  merge(of, ofInputGradient, cotangents, o.gateIn.data(), o.x.data(), o.dx, o.dGateIn.data());
  when(
      of, [](const Case &c) { return c.gateOut; },
      [&](const auto &of) {
        merge(of, ofGateGradient, signals, o.dy.data(), none, o.dGateOut, none);
      });
  launch<FFTConvInnerGradient, T>(of, innerOf, {&filterParts}, partial.data(), inner.data(),
                                  filterParts.data());
  launch<FFTConvMergeFilter, T>(of, ofFilter, {&dFilter}, filterParts.data(), outer.data(),
                                fine.data(), coarse.data(), dFilter.data(), o.dSkip.data());
  EXPECT_TRUE(o.dGateIn.guardsIntact() && o.dSkip.guardsIntact());
  o.expectGradients(bound);
  for (Doubles *expected : {&o.r.dFilter, &o.r.dSkip})
    for (double &value : *expected)
      value *= static_cast<double>(1 + c.goesOn);
  EXPECT_LT(relativeError(dFilter.values(), o.r.dFilter), bound);
  if (c.skip) {
    EXPECT_LT(relativeError(o.dSkip.values(), o.r.dSkip), bound);
  }
}

template <typename T> struct FFTConvParts : testing::Test {};
TYPED_TEST_SUITE(FFTConvParts, Scalars);

constexpr Case cases[] = {{2, 1000, 9, 1000, 2, true, true, true, 32, 8},
                          {3, 2048, 3, 2048, 1, false, false, false, 64, 4},
                          {2, 1000, 2, 1000, 1, true, false, true, 32, 8, 8, 1},
                          {1, 4000, 2, 40, 1, true, true, false, 32, 4}, // 2048 points
                          {1, 4000, 2, 40, 1, true, true, false, 64, 2},
                          {3, 1000, 9, 1000, 2, true, true, true, 16, 16, 16},
                          {2, 1000, 21, 1000, 1, true, true, true, 16, 8, 16},
                          {2, 1000, 17, 1000, 1, true, true, true, 8, 16, 16},
                          {1, 512, 8, 512, 1, false, false, true, 16, 32},
                          // A block walks over several parts; the last one over fewer.
                          {3, 1000, 9, 1000, 2, true, true, true, 16, 16, 16, 0, 5},
                          {1, 4000, 3, 40, 1, true, true, false, 4, 16, 16, 0, 5},
                          // Inner transforms of 512 points, down to remainders.
                          {3, 2000, 5, 2000, 2, true, true, true, 4, 16, 16},
                          {2, 4000, 3, 40, 1, false, false, true, 4, 16, 16},
                          {2, 3000, 2, 1000, 2, true, true, false, 4, 16, 16},
                          // Blocks as they are of f32 and of f64.
                          {2, 1000, 35, 1000, 1, true, true, true, 16, 16, 32},
                          {2, 700, 33, 700, 1, true, true, true, 4, 16, 32},
                          {1, 1000, 34, 1000, 1, false, true, true, 32, 8, 32},
                          {2, 1000, 18, 1000, 1, true, true, true, 16, 16, 16}};
TYPED_TEST(FFTConvParts, AgreesInTwoPasses) {
  forEachCase<cases>([](const auto &of) { check<TypeParam>(of); });
}

} // namespace
#endif
