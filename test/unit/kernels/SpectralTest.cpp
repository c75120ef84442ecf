//===- SpectralTest.cpp - Fourier transforms and modal filters ----------------===//
#include "KernelTest.h"
#include "codegen/kernels/ModalFilter.h"
#include "codegen/kernels/Rfft.h"

namespace hybrid::cpu::test {
namespace {

HYBRID_DECLARE_KERNEL(rfft, RfftParams)
HYBRID_DECLARE_KERNEL(irfft, RfftParams)
HYBRID_DECLARE_KERNEL(fft_table, FFTTableParams)
HYBRID_DECLARE_KERNEL(modal_filter, ModalFilterParams)

template <typename T> class Spectral : public ::testing::Test {
public:
  /// Both transforms against the sums that define them.
  void check(int64_t points, int64_t channels, bool weighted) {
    int64_t bins = points / 2 + 1, grid = ceilDiv(channels, lanes<T>);
    RfftParams params{points, channels, 0, weighted};
    params.transformSize = RfftTransformSize::onCpu<T>(params);
    Tensor<T> table(1, fftTableElements(params.transformSize));
    callWhole<FFTTableParams>(fft_table<T>, 1, {table.data()}, {params.transformSize});
    Doubles x = randomDoubles(points * channels, 1), re = randomDoubles(bins * channels, 2),
            im = randomDoubles(bins * channels, 3);
    Doubles expectedRe, expectedIm, expectedX;
    auto angle = [&](int64_t k, int64_t t) {
      return 2 * M_PI * static_cast<double>(k * t % points) / static_cast<double>(points);
    };
    auto weight = [&](int64_t k) {
      double single = k == 0 || 2 * k == points ? 1 : 2;
      return weighted ? single / static_cast<double>(points) : 1;
    };
    auto at = [&](const Doubles &from, int64_t row, int64_t c) {
      return from[static_cast<size_t>(row * channels + c)];
    };
    for (int64_t k = 0; k < bins; ++k)
      for (int64_t c = 0; c < channels; ++c) {
        double real = 0, imaginary = 0;
        for (int64_t t = 0; t < points; ++t) {
          real += at(x, t, c) * std::cos(angle(k, t));
          imaginary -= at(x, t, c) * std::sin(angle(k, t));
        }
        expectedRe.push_back(weight(k) * real);
        expectedIm.push_back(weight(k) * imaginary);
      }
    for (int64_t t = 0; t < points; ++t)
      for (int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (int64_t k = 0; k < bins; ++k)
          sum += weight(k) *
                 (at(re, k, c) * std::cos(angle(k, t)) - at(im, k, c) * std::sin(angle(k, t)));
        expectedX.push_back(sum);
      }
    Tensor<T> input(x, points, channels), outRe(bins, channels), outIm(bins, channels);
    callInPieces(rfft<T>, grid, {input.data(), outRe.data(), outIm.data(), table.data()}, params,
                 scratchOf<Rfft, T>(params));
    EXPECT_LT(relativeError(outRe.values(), expectedRe), tolerance<T>(3e-6)) << points;
    double scale = 0; // the imaginary parts of few points may all be zero
    for (double value : expectedRe)
      scale = std::fmax(scale, std::fabs(value));
    for (size_t i = 0; i < expectedIm.size(); ++i)
      EXPECT_NEAR(outIm.values()[i], expectedIm[i], scale * tolerance<T>(3e-6)) << points;
    Tensor<T> inRe(re, bins, channels), inIm(im, bins, channels), back(points, channels);
    callInPieces(irfft<T>, grid, {inRe.data(), inIm.data(), back.data(), table.data()}, params,
                 scratchOf<Rfft, T>(params));
    EXPECT_LT(relativeError(back.values(), expectedX), tolerance<T>(3e-6)) << points;
    EXPECT_TRUE(outRe.guardsIntact() && outIm.guardsIntact() && back.guardsIntact());
  }
};
TYPED_TEST_SUITE(Spectral, Scalars);

TYPED_TEST(Spectral, AnyNumberOfPoints) {
  for (int64_t points : {1, 2, 3, 4, 7, 8, 15, 16, 33, 100, 127, 128, 211})
    this->check(points, points % 3 == 0 ? 19 : 5, points % 2 == 0);
}

TYPED_TEST(Spectral, ModalFilterOfAnyLength) {
  for (int64_t length : {1, 5, 64, 65, 300}) {
    constexpr int64_t channels = 11, states = 3;
    ModalFilterParams params{length, channels, states};
    Doubles decay = randomDoubles(states * channels, 1, 0.02), angle = randomDoubles(33, 2, 2),
            re = randomDoubles(33, 3), im = randomDoubles(33, 4), expected;
    for (double &value : decay)
      value = -std::fabs(value);
    for (int64_t t = 0; t < length; ++t)
      for (int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (int64_t s = 0; s < states; ++s) {
          auto i = static_cast<size_t>(s * channels + c);
          double time = static_cast<double>(t);
          sum += std::exp(static_cast<double>(static_cast<TypeParam>(decay[i])) * time) *
                 (re[i] * std::cos(angle[i] * time) - im[i] * std::sin(angle[i] * time));
        }
        expected.push_back(sum);
      }
    Tensor<TypeParam> a(decay, states, channels), b(angle, states, channels),
        r(re, states, channels), q(im, states, channels), y(length, channels);
    callInPieces(modal_filter<TypeParam>, itemsOf<ModalFilter, TypeParam>(params),
                 {a.data(), b.data(), r.data(), q.data(), y.data()}, params);
    EXPECT_LT(relativeError(y.values(), expected), tolerance<TypeParam>(1e-6)) << length;
    EXPECT_TRUE(y.guardsIntact());
  }
}

} // namespace
} // namespace hybrid::cpu::test
