//===- RfftTest.cpp - Fourier transforms against the sums that define them ---===//
#include "codegen/kernels/Rfft.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/Rfft.cuh"
#endif

HYBRID_TEST_KERNEL(Rfft, rfft, rfft)
HYBRID_TEST_KERNEL(Irfft, irfft, irfft)
#ifdef HYBRID_CUDA_SHIM
HYBRID_TEST_KERNEL(RfftSplit, , rfftSplit)
HYBRID_TEST_KERNEL(IrfftJoin, , irfftJoin)
#else
HYBRID_TEST_KERNEL(FFTTable, fft_table, )
#endif

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t points, channels;
  bool weighted;
};

/// Both directions, term by term.
struct Reference {
  Doubles x, re, im, transformedRe, transformedIm, back;

  explicit Reference(const Case &c) {
    const int64_t bins = c.points / 2 + 1;
    x = randomDoubles(c.points * c.channels, 1), re = randomDoubles(bins * c.channels, 2);
    im = randomDoubles(bins * c.channels, 3);
    auto angle = [&](int64_t k, int64_t t) {
      return 2 * M_PI * static_cast<double>(k * t % c.points) / static_cast<double>(c.points);
    };
    auto weight = [&](int64_t k) {
      double single = k == 0 || 2 * k == c.points ? 1 : 2;
      return c.weighted ? single / static_cast<double>(c.points) : 1;
    };
    auto at = [&](const Doubles &from, int64_t row, int64_t channel) {
      return from[static_cast<size_t>(row * c.channels + channel)];
    };
    for (int64_t k = 0; k < bins; ++k)
      for (int64_t channel = 0; channel < c.channels; ++channel) {
        double real = 0, imaginary = 0;
        for (int64_t t = 0; t < c.points; ++t) {
          real += at(x, t, channel) * std::cos(angle(k, t));
          imaginary -= at(x, t, channel) * std::sin(angle(k, t));
        }
        transformedRe.push_back(weight(k) * real);
        transformedIm.push_back(weight(k) * imaginary);
      }
    for (int64_t t = 0; t < c.points; ++t)
      for (int64_t channel = 0; channel < c.channels; ++channel) {
        double sum = 0;
        for (int64_t k = 0; k < bins; ++k)
          sum += weight(k) * (at(re, k, channel) * std::cos(angle(k, t)) -
                              at(im, k, channel) * std::sin(angle(k, t)));
        back.push_back(sum);
      }
  }
};

template <typename T> constexpr RfftParams paramsOf(const Case &c) {
  RfftParams p{c.points, c.channels, 0, c.weighted};
  if (!onCuda)
    p.transformSize = RfftTransformSize::onCpu<T>(p);
  return p;
}

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << c.points << " points, " << c.channels << " channels f"
                                  << 8 * sizeof(T));
  Reference r(c);
  const int64_t bins = c.points / 2 + 1;
  constexpr auto params = [](const Case &c) { return paramsOf<T>(c); };
  Tensor<T> x(r.x, c.points, c.channels), outRe(bins, c.channels), outIm(bins, c.channels),
      re(r.re, bins, c.channels), im(r.im, bins, c.channels), back(c.points, c.channels);
#ifdef HYBRID_CUDA_SHIM
  launch<Rfft, T>(of, params, {&outRe, &outIm}, x.data(), outRe.data(), outIm.data());
  launch<Irfft, T>(of, params, {&back}, re.data(), im.data(), back.data());
#else
  const int64_t size = params(c).transformSize;
  Tensor<T> table(1, fftTableElements(size));
  launch<FFTTable, T>(
      of, [size](const Case &) { return FFTTableParams{size}; }, {&table}, table.data());
  launch<Rfft, T>(of, params, {&outRe, &outIm}, x.data(), outRe.data(), outIm.data(), table.data());
  launch<Irfft, T>(of, params, {&back}, re.data(), im.data(), back.data(), table.data());
#endif
  const double bound = tolerance<T>(3e-6);
  EXPECT_LT(relativeError(outRe.values(), r.transformedRe), bound);
  double scale = 0; // the imaginary parts of few points may all be zero
  for (double value : r.transformedRe)
    scale = std::fmax(scale, std::fabs(value));
  const Doubles imaginary = outIm.values();
  for (size_t i = 0; i < imaginary.size(); ++i)
    EXPECT_NEAR(imaginary[i], r.transformedIm[i], scale * bound);
  EXPECT_LT(relativeError(back.values(), r.back), bound);
}

#ifdef HYBRID_CUDA_SHIM
/// What is around a library: its spectrum is taken apart, and what is put together it sums over all
/// bins to what our inverse gives.
template <typename T, typename Of> void checkAroundLibrary(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << c.points << " points, " << c.channels << " channels f"
                                  << 8 * sizeof(T));
  Reference r(c);
  const int64_t bins = c.points / 2 + 1;
  constexpr auto params = [](const Case &c) { return paramsOf<T>(c); };
  Doubles exact;
  for (int64_t k = 0; k < bins; ++k)
    for (int64_t channel = 0; channel < c.channels; ++channel) {
      const auto at = static_cast<size_t>(k * c.channels + channel);
      const double single = k == 0 || 2 * k == c.points ? 1 : 2,
                   weight = c.weighted ? single / static_cast<double>(c.points) : 1;
      exact.insert(exact.end(), {r.transformedRe[at] / weight, r.transformedIm[at] / weight});
    }
  Tensor<T> spectrum(exact, bins, 2 * c.channels), outRe(bins, c.channels), outIm(bins, c.channels),
      re(r.re, bins, c.channels), im(r.im, bins, c.channels), joined(bins, 2 * c.channels);
  launch<RfftSplit, T>(of, params, {&outRe, &outIm}, spectrum.data(), outRe.data(), outIm.data());
  launch<IrfftJoin, T>(of, params, {&joined}, re.data(), im.data(), joined.data());
  const double bound = tolerance<T>(3e-6);
  EXPECT_LT(relativeError(outRe.values(), r.transformedRe), bound);
  const Doubles imaginary = outIm.values(), parts = joined.values();
  double scale = 0;
  for (double value : r.transformedRe)
    scale = std::fmax(scale, std::fabs(value));
  for (size_t i = 0; i < imaginary.size(); ++i)
    EXPECT_NEAR(imaginary[i], r.transformedIm[i], scale * bound);
  Doubles back;
  for (int64_t t = 0; t < c.points; ++t)
    for (int64_t channel = 0; channel < c.channels; ++channel) {
      double sum = 0;
      for (int64_t k = 0; k < c.points; ++k) { // bins beyond the half are conjugates
        const int64_t bin = 2 * k > c.points ? c.points - k : k;
        const auto at = static_cast<size_t>(2 * (bin * c.channels + channel));
        const double angle =
            2 * M_PI * static_cast<double>(k * t % c.points) / static_cast<double>(c.points);
        sum += parts[at] * std::cos(angle) - (bin == k ? 1 : -1) * parts[at + 1] * std::sin(angle);
      }
      back.push_back(sum);
    }
  EXPECT_LT(relativeError(back, r.back), bound);
}
#endif

template <typename T> struct Spectral : testing::Test {};
TYPED_TEST_SUITE(Spectral, Scalars);

constexpr Case points[] = {{1, 5, false},  {2, 5, true},   {7, 19, false},
                           {100, 8, true}, {211, 3, true}, {512, 9, false}};
TYPED_TEST(Spectral, AnyNumberOfPoints) {
  forEachCase<points>([](const auto &of) { check<TypeParam>(of); });
  if constexpr (!onCuda)
    for (int64_t count : {1, 2, 3, 4, 7, 8, 15, 16, 33, 100, 127, 128, 211})
      check<TypeParam>(Given{Case{count, count % 3 == 0 ? 19 : 5, count % 2 == 0}});
}

#ifdef HYBRID_CUDA_SHIM
TYPED_TEST(Spectral, AroundALibrary) {
  forEachCase<points>([](const auto &of) { checkAroundLibrary<TypeParam>(of); });
}
#endif

} // namespace
