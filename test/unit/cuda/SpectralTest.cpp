//===- SpectralTest.cpp - transforms and modal filters in CUDA --------------===//
#include "codegen/kernels/cuda/ModalFilter.cuh"
#include "codegen/kernels/cuda/Rfft.cuh"
#include "test/unit/cuda/KernelTest.h"
#include "test/unit/kernels/KernelTest.h"

using namespace hybrid;
using namespace hybrid::cuda;
using namespace hybrid::cuda::test;
using hybrid::cpu::test::Doubles;
using hybrid::cpu::test::randomDoubles;
using hybrid::cpu::test::relativeError;
using hybrid::cpu::test::Tensor;
using hybrid::cpu::test::tolerance;

namespace {

double at(const Doubles &from, int64_t row, int64_t column, int64_t columns) {
  return from[static_cast<size_t>(row * columns + column)];
}

/// Both transforms against the sums that define them.
template <typename T, int64_t points, int64_t channels, bool weighted> void checkTransforms() {
  SCOPED_TRACE(testing::Message() << points << " points, " << channels << " channels");
  constexpr RfftParams P{points, channels, 0, weighted};
  constexpr int64_t bins = points / 2 + 1;
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
  for (int64_t k = 0; k < bins; ++k)
    for (int64_t c = 0; c < channels; ++c) {
      double real = 0, imaginary = 0;
      for (int64_t t = 0; t < points; ++t) {
        real += at(x, t, c, channels) * std::cos(angle(k, t));
        imaginary -= at(x, t, c, channels) * std::sin(angle(k, t));
      }
      expectedRe.push_back(weight(k) * real);
      expectedIm.push_back(weight(k) * imaginary);
    }
  for (int64_t t = 0; t < points; ++t)
    for (int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (int64_t k = 0; k < bins; ++k)
        sum += weight(k) * (at(re, k, c, channels) * std::cos(angle(k, t)) -
                            at(im, k, c, channels) * std::sin(angle(k, t)));
      expectedX.push_back(sum);
    }
  Tensor<T> input(x, points, channels), outRe(bins, channels), outIm(bins, channels);
  run("rfft", Rfft::onCuda<T>(P).items, rfftThreads, Rfft::onCuda<T>(P).bytes,
      [&](int64_t item) { rfft<T, P>(item, input.data(), outRe.data(), outIm.data()); });
  EXPECT_LT(relativeError(outRe.values(), expectedRe), tolerance<T>(3e-6));
  double scale = 0; // the imaginary parts of few points may all be zero
  for (double value : expectedRe)
    scale = std::fmax(scale, std::fabs(value));
  Doubles imaginary = outIm.values();
  for (size_t i = 0; i < expectedIm.size(); ++i)
    EXPECT_NEAR(imaginary[i], expectedIm[i], scale * tolerance<T>(3e-6));
  Tensor<T> inRe(re, bins, channels), inIm(im, bins, channels), back(points, channels);
  run("irfft", Irfft::onCuda<T>(P).items, rfftThreads, Irfft::onCuda<T>(P).bytes,
      [&](int64_t item) { irfft<T, P>(item, inRe.data(), inIm.data(), back.data()); });
  EXPECT_LT(relativeError(back.values(), expectedX), tolerance<T>(3e-6));
  EXPECT_TRUE(outRe.guardsIntact() && outIm.guardsIntact() && back.guardsIntact());
}

template <typename T, int64_t length, int64_t channels, int64_t states> void checkModal() {
  SCOPED_TRACE(testing::Message() << length << " positions, " << channels << " channels");
  constexpr ModalFilterParams P{length, channels, states};
  constexpr int64_t modes = states * channels;
  // As the kernel sees them.
  auto numbers = [](unsigned seed, double scale) {
    Doubles values = randomDoubles(modes, seed, scale);
    for (double &value : values)
      value = static_cast<double>(static_cast<T>(value));
    return values;
  };
  Doubles decay = numbers(1, 0.02), angle = numbers(2, 2), re = numbers(3, 1), im = numbers(4, 1);
  for (double &value : decay)
    value = -std::fabs(value);
  Doubles dy = randomDoubles(length * channels, 5), y;
  Doubles gradients[4];
  for (Doubles &gradient : gradients)
    gradient.assign(modes, 0);
  for (int64_t t = 0; t < length; ++t)
    for (int64_t c = 0; c < channels; ++c) {
      double sum = 0, time = static_cast<double>(t), g = at(dy, t, c, channels);
      for (int64_t s = 0; s < states; ++s) {
        auto i = static_cast<size_t>(s * channels + c);
        double size = std::exp(decay[i] * time), real = size * std::cos(angle[i] * time),
               imaginary = size * std::sin(angle[i] * time);
        double value = re[i] * real - im[i] * imaginary;
        sum += value;
        gradients[0][i] += g * time * value;
        gradients[1][i] -= g * time * (re[i] * imaginary + im[i] * real);
        gradients[2][i] += g * real;
        gradients[3][i] -= g * imaginary;
      }
      y.push_back(sum);
    }
  Tensor<T> a(decay, states, channels), b(angle, states, channels), r(re, states, channels),
      q(im, states, channels), out(length, channels), cotangent(dy, length, channels);
  run("modalFilter", ModalFilter::onCuda<T>(P).items, modalThreads, 0, [&](int64_t item) {
    modalFilter<T, P>(item, a.data(), b.data(), r.data(), q.data(), out.data());
  });
  EXPECT_LT(relativeError(out.values(), y), tolerance<T>(1e-6));
  EXPECT_TRUE(out.guardsIntact());
  Tensor<T> partial(ModalFilterBlocks::onCuda<T>(P), 4 * modes);
  run("modalFilterBackward", ModalFilterBackward::onCuda<T>(P).items, modalThreads,
      ModalFilterBackward::onCuda<T>(P).bytes, [&](int64_t item) {
        modalFilterBackward<T, P>(item, a.data(), b.data(), r.data(), q.data(), cotangent.data(),
                                  partial.data());
      });
  EXPECT_TRUE(partial.guardsIntact());
  for (int64_t which = 0; which < 4; ++which) {
    Doubles sums(modes, 0);
    for (int64_t block = 0; block < ModalFilterBlocks::onCuda<T>(P); ++block)
      for (int64_t i = 0; i < modes; ++i)
        sums[static_cast<size_t>(i)] += static_cast<double>(partial.at(block, which * modes + i));
    EXPECT_LT(relativeError(sums, gradients[which]), tolerance<T>(2e-6)) << which;
  }
}

template <typename T> struct CudaSpectral : testing::Test {};
TYPED_TEST_SUITE(CudaSpectral, hybrid::cpu::test::Scalars);

TYPED_TEST(CudaSpectral, AnyNumberOfPoints) {
  checkTransforms<TypeParam, 1, 5, false>();
  checkTransforms<TypeParam, 2, 5, true>();
  checkTransforms<TypeParam, 7, 19, false>();
  checkTransforms<TypeParam, 100, 8, true>();
  checkTransforms<TypeParam, 211, 3, true>();
  checkTransforms<TypeParam, 512, 9, false>();
}

TYPED_TEST(CudaSpectral, ModalFilterOfAnyLength) {
  checkModal<TypeParam, 1, 11, 3>();
  checkModal<TypeParam, 65, 40, 2>();
  checkModal<TypeParam, 600, 11, 3>();
}

} // namespace
