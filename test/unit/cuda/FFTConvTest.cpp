//===- FFTConvTest.cpp - long convolution in CUDA against the direct sum --===//
#include "codegen/kernels/cuda/FFTConv.cuh"
#include "codegen/kernels/cuda/FFTConvParts.cuh"
#include "test/unit/cuda/KernelTest.h"
#include "test/unit/kernels/FFTConvReference.h"

using namespace hybrid;
using namespace hybrid::cuda;
using namespace hybrid::cuda::test;
using hybrid::cpu::test::FFTConvCase;
using hybrid::cpu::test::FFTConvReference;
using hybrid::cpu::test::relativeError;
using hybrid::cpu::test::Tensor;
using hybrid::cpu::test::tolerance;

namespace {

struct Shape {
  int64_t batch, length, channels, taps, lanes, splits = 1, skip = 1, gateIn = 1, gateOut = 1,
                                                segments = 0, threads = 32, wide = 0;
};

constexpr FFTConvParams paramsOf(const Shape &s) {
  return {.batch = s.batch,
          .length = s.length,
          .channels = s.channels,
          .taps = s.taps,
          .points = convolutionPoints(s.length, s.taps),
          .lanes = s.lanes,
          .splits = s.splits,
          .blockThreads = s.threads,
          .wide = s.wide,
          .xStride = s.channels + 5,
          .gateInStride = s.channels + 3,
          .gateOutStride = s.channels,
          .yStride = s.channels + 1,
          .dxStride = s.channels + 2,
          .dGateInStride = s.channels + 7,
          .dGateOutStride = s.channels,
          .hasSkip = s.skip,
          .hasGateIn = s.gateIn,
          .hasGateOut = s.gateOut,
          .hasSegments = s.segments};
}

template <typename T, int64_t count, int64_t step, int64_t period> Tensor<T> twiddleTable() {
  constexpr FFTTwiddleParams P{count, step, period};
  Tensor<T> table(1, 2 * count);
  run("fftTwiddles", FFTTwiddles::onCuda<T>(P).items, fftTwiddleThreads, 0,
      [&](int64_t item) { fftTwiddles<T, P>(item, table.data()); });
  EXPECT_TRUE(table.guardsIntact());
  return table;
}

/// Operands and results, with gaps between rows.
template <typename T, FFTConvParams P> struct Operands {
  FFTConvReference r{FFTConvCase{P.batch, P.length, P.channels, P.taps, P.hasSkip != 0,
                                 P.hasGateIn != 0, P.hasGateOut != 0, P.hasSegments != 0}};
  int64_t rows = P.batch * P.length;
  Tensor<T> x{r.x, rows, P.channels, P.xStride}, filter{r.filter, P.taps, P.channels}, skip, gateIn,
      gateOut, dy{r.dy, rows, P.channels, P.yStride};
  const int32_t *segments = P.hasSegments ? r.segments.data() : nullptr;
  Tensor<T> y{rows, P.channels, P.yStride}, dx{rows, P.channels, P.dxStride},
      dFilter{P.taps, P.channels}, dSkip, dGateIn, dGateOut;

  Operands() {
    if (P.hasSkip)
      skip = Tensor<T>(r.skip, 1, P.channels), dSkip = Tensor<T>(1, P.channels);
    if (P.hasGateIn) {
      gateIn = Tensor<T>(r.gateIn, rows, P.channels, P.gateInStride);
      dGateIn = Tensor<T>(rows, P.channels, P.dGateInStride);
    }
    if (P.hasGateOut) {
      gateOut = Tensor<T>(r.gateOut, rows, P.channels, P.gateOutStride);
      dGateOut = Tensor<T>(rows, P.channels, P.dGateOutStride);
    }
  }
  void expectForward() {
    EXPECT_TRUE(y.guardsIntact());
    EXPECT_LT(relativeError(y.values(), r.y), tolerance<T>(2e-6));
  }
  void expectBackward() {
    double bound = tolerance<T>(2e-6);
    EXPECT_TRUE(dx.guardsIntact() && dFilter.guardsIntact() && dGateIn.guardsIntact() &&
                dGateOut.guardsIntact());
    EXPECT_LT(relativeError(dx.values(), r.dx), bound);
    EXPECT_LT(relativeError(dFilter.values(), r.dFilter), bound);
    if (P.hasSkip) {
      EXPECT_LT(relativeError(dSkip.values(), r.dSkip), bound);
    }
    if (P.hasGateIn) {
      EXPECT_LT(relativeError(dGateIn.values(), r.dGateIn), bound);
    }
    if (P.hasGateOut) {
      EXPECT_LT(relativeError(dGateOut.values(), r.dGateOut), bound);
    }
  }
};

template <typename T, Shape shape> void check() {
  constexpr FFTConvParams P = paramsOf(shape);
  SCOPED_TRACE(testing::Message() << "batch " << P.batch << " length " << P.length << " channels "
                                  << P.channels << " taps " << P.taps << " points " << P.points
                                  << " lanes " << P.lanes << " splits " << P.splits << " segments "
                                  << P.hasSegments);
  Operands<T, P> o;
  Tensor<T> twiddles = twiddleTable<T, P.points, 1, 4 * P.points>();
  Tensor<T> spectrum(1, FFTConvSpectrumElements::onCuda<T>(P));
  const int64_t groups = channelGroups(P), one = sharedBytes<T>(P, 1), two = sharedBytes<T>(P, 2);
  run("fftconvSpectrum", groups, threads(P), one, [&](int64_t item) {
    fftconvSpectrum<T, P>(item, o.filter.data(), twiddles.data(), spectrum.data());
  });
  EXPECT_TRUE(spectrum.guardsIntact());
  run("fftconvForward", groups * P.batch, threads(P), one, [&](int64_t item) {
    fftconvForward<T, P>(item, o.x.data(), spectrum.data(), twiddles.data(), o.skip.data(),
                         o.gateIn.data(), o.gateOut.data(), o.segments, o.y.data());
  });
  o.expectForward();

  Tensor<T> partial(P.splits, FFTConvSpectrumElements::onCuda<T>(P));
  run("fftconvBackward", groups * P.splits, threads(P), two, [&](int64_t item) {
    fftconvBackward<T, P>(item, o.x.data(), spectrum.data(), twiddles.data(), o.skip.data(),
                          o.gateIn.data(), o.gateOut.data(), o.segments, o.dy.data(), o.dx.data(),
                          partial.data(), o.dGateIn.data(), o.dGateOut.data());
  });
  EXPECT_TRUE(partial.guardsIntact());
  run("fftconvFilterGradient", groups, threads(P), one, [&](int64_t item) {
    fftconvFilterGradient<T, P>(item, partial.data(), twiddles.data(), o.dFilter.data(),
                                o.dSkip.data());
  });
  o.expectBackward();
}

/// In two passes.
template <typename T, Shape shape, int64_t parts, int64_t tile> void checkParts() {
  constexpr FFTConvParams B = paramsOf(shape);
  SCOPED_TRACE(testing::Message() << "batch " << B.batch << " length " << B.length << " channels "
                                  << B.channels << " taps " << B.taps << " points " << B.points
                                  << " parts " << parts << " splits " << B.splits);
  Operands<T, B> o;
  constexpr int64_t inner = B.points / parts, fine = fineFactors(B.points);
  constexpr auto base = [] {
    FFTConvPartsParams p{};
    p.batch = B.batch, p.length = B.length, p.channels = B.channels, p.points = B.points;
    p.parts = parts, p.tile = tile, p.blockThreads = 64;
    return p;
  }();
  auto with = [](FFTConvPartsParams p, int64_t stride, int64_t hasFactor, int64_t factorStride) {
    p.stride = stride, p.hasFactor = hasFactor, p.factorStride = factorStride;
    return p;
  };
  constexpr FFTConvInnerParams I{B.batch,  B.channels, parts,     inner,
                                 B.splits, B.points,   B.hasSkip, B.hasGateOut};
  Tensor<T> outer = twiddleTable<T, parts, 1, 4 * parts>(),
            innerTable = twiddleTable<T, inner, 1, 4 * inner>(),
            fineTable = twiddleTable<T, fine, 1, 4 * B.points>(),
            coarse = twiddleTable<T, 4 * B.points / fine, fine, 4 * B.points>();
  const int64_t allParts = B.channels * parts;

  auto split = [&]<FFTConvPartsParams P>(const T *x, const T *gate, Tensor<T> &to) {
    run("fftconvSplit", partsGrid<T>(P).items, threads(P), partsGrid<T>(P).bytes,
        [&](int64_t item) {
          fftconvSplit<T, P>(item, x, gate, outer.data(), fineTable.data(), coarse.data(),
                             to.data());
        });
    EXPECT_TRUE(to.guardsIntact());
  };
  auto merge = [&]<FFTConvPartsParams P>(Tensor<T> &from, const T *gate, const T *secondFactor,
                                         T *y, T *second, T *first) {
    run("fftconvMerge", partsGrid<T>(P).items, threads(P), partsGrid<T>(P).bytes,
        [&](int64_t item) {
          fftconvMerge<T, P>(item, from.data(), gate, secondFactor, outer.data(), fineTable.data(),
                             coarse.data(), y, second, first);
        });
  };
  auto forFilter = [](FFTConvPartsParams p) {
    p.batch = 1, p.length = B.taps, p.stride = B.channels, p.hasFirst = B.hasSkip;
    return p;
  };

  Tensor<T> filterParts(allParts, 2 * inner), spectrum(allParts, 2 * inner);
  split.template operator()<forFilter(base)>(o.filter.data(), nullptr, filterParts);
  run("fftconvInnerSpectrum", allParts, threads(I), sharedBytes<T>(I, 1), [&](int64_t item) {
    fftconvInnerSpectrum<T, I>(item, filterParts.data(), innerTable.data(), spectrum.data());
  });
  Tensor<T> signals(B.batch * allParts, 2 * inner), cotangents = signals;
  constexpr FFTConvPartsParams in = with(base, B.xStride, B.hasGateIn, B.gateInStride);
  split.template operator()<in>(o.x.data(), o.gateIn.data(), signals);
  run("fftconvInnerForward", allParts * B.batch, threads(I), sharedBytes<T>(I, 1),
      [&](int64_t item) {
        fftconvInnerForward<T, I>(item, spectrum.data(), o.skip.data(), innerTable.data(),
                                  signals.data());
      });
  EXPECT_TRUE(signals.guardsIntact());
  constexpr FFTConvPartsParams out = with(base, B.yStride, B.hasGateOut, B.gateOutStride);
  merge.template operator()<out>(signals, o.gateOut.data(), nullptr, o.y.data(), nullptr, nullptr);
  o.expectForward();

  Tensor<T> partial(B.splits * allParts, 2 * inner);
  split.template operator()<in>(o.x.data(), o.gateIn.data(), signals);
  split.template operator()<out>(o.dy.data(), o.gateOut.data(), cotangents);
  run("fftconvInnerBackward", allParts * B.splits, threads(I), sharedBytes<T>(I, 2),
      [&](int64_t item) {
        fftconvInnerBackward<T, I>(item, spectrum.data(), o.skip.data(), innerTable.data(),
                                   signals.data(), cotangents.data(), partial.data());
      });
  EXPECT_TRUE(signals.guardsIntact() && cotangents.guardsIntact() && partial.guardsIntact());
  constexpr auto dIn = [&] {
    FFTConvPartsParams p = with(base, B.dxStride, B.hasGateIn, B.gateInStride);
    p.hasSecond = B.hasGateIn, p.secondStride = B.dGateInStride, p.secondFactorStride = B.xStride;
    return p;
  }();
  merge.template operator()<dIn>(cotangents, o.gateIn.data(), o.x.data(), o.dx.data(),
                                 o.dGateIn.data(), nullptr);
  if constexpr (B.hasGateOut != 0)
    merge.template operator()<with(base, B.dGateOutStride, 1, B.yStride)>(
        signals, o.dy.data(), nullptr, o.dGateOut.data(), nullptr, nullptr);
  run("fftconvInnerGradient", allParts, threads(I), sharedBytes<T>(I, 1), [&](int64_t item) {
    fftconvInnerGradient<T, I>(item, partial.data(), innerTable.data(), filterParts.data());
  });
  merge.template operator()<forFilter(base)>(filterParts, nullptr, nullptr, o.dFilter.data(),
                                             nullptr, o.dSkip.data());
  o.expectBackward();
}

template <typename T> struct CudaFFTConv : testing::Test {};
TYPED_TEST_SUITE(CudaFFTConv, hybrid::cpu::test::Scalars);

TYPED_TEST(CudaFFTConv, AgreesForEveryTransformSize) {
  check<TypeParam, Shape{1, 1, 3, 1, 1}>();
  check<TypeParam, Shape{2, 33, 8, 33, 8}>();
  check<TypeParam, Shape{2, 64, 5, 64, 4}>();
  check<TypeParam, Shape{2, 128, 2, 128, 1, 2}>();
  check<TypeParam, Shape{2, 250, 8, 250, 8, 1, 1, 1, 1, 0, 64}>();
  check<TypeParam, Shape{2, 300, 2, 300, 2, 1, 1, 1, 1, 0, 64}>();
}
TYPED_TEST(CudaFFTConv, AgreesForLongTransforms) {
  check<TypeParam, Shape{1, 1000, 2, 1000, 1, 1, 1, 0, 0, 0, 64}>();
  check<TypeParam, Shape{1, 4000, 1, 4000, 1, 1, 0, 1, 0, 0, 128}>();
}
TYPED_TEST(CudaFFTConv, AgreesWithStagesOfRadix32) {
  check<TypeParam, Shape{2, 400, 2, 400, 1, 1, 1, 1, 1, 0, 32, 1}>();
  check<TypeParam, Shape{1, 1000, 3, 1000, 2, 1, 1, 1, 1, 0, 64, 1}>();
}
TYPED_TEST(CudaFFTConv, AgreesForOddShapes) {
  check<TypeParam, Shape{3, 33, 17, 33, 16, 2}>();
  check<TypeParam, Shape{5, 40, 33, 9, 32, 3}>();
  check<TypeParam, Shape{3, 100, 7, 100, 2, 3}>();
  check<TypeParam, Shape{3, 20, 75, 20, 1, 2}>(); // two bands of channels
}
TYPED_TEST(CudaFFTConv, AgreesForShortFilters) {
  check<TypeParam, Shape{3, 100, 8, 1, 8}>(); // positions behind the transform's points
  check<TypeParam, Shape{3, 127, 8, 24, 4, 2}>();
  check<TypeParam, Shape{2, 64, 8, 2, 8}>();
}
TYPED_TEST(CudaFFTConv, AgreesWithAndWithoutGatesAndSkip) {
  check<TypeParam, Shape{3, 40, 8, 9, 8, 1, 0, 0, 0}>();
  check<TypeParam, Shape{3, 40, 8, 9, 8, 1, 1, 0, 1}>();
  check<TypeParam, Shape{3, 40, 8, 9, 8, 1, 0, 1, 0}>();
}
TYPED_TEST(CudaFFTConv, KeepsSegmentsApart) {
  check<TypeParam, Shape{3, 127, 9, 127, 8, 2, 1, 1, 1, 1}>();
  check<TypeParam, Shape{1, 5, 9, 5, 8, 1, 1, 1, 1, 1}>();
  check<TypeParam, Shape{2, 127, 8, 20, 8, 1, 1, 0, 1, 1, 64}>();
}

TYPED_TEST(CudaFFTConv, AgreesInTwoPasses) {
  checkParts<TypeParam, Shape{2, 1000, 9, 1000, 0, 2}, 32, 8>();
  checkParts<TypeParam, Shape{3, 2048, 3, 2048, 0, 1, 0, 0, 0}, 64, 4>();
  checkParts<TypeParam, Shape{1, 4000, 2, 40, 0, 1, 1, 1, 0}, 32, 4>(); // 2048 points
}

} // namespace
