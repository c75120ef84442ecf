//===- ModalFilterTest.cpp - filters against the sums of their modes ---------===//
#include "codegen/kernels/ModalFilter.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/ModalFilter.cuh"
#endif

HYBRID_TEST_KERNEL(ModalFilter, modal_filter, modalFilter)
HYBRID_TEST_KERNEL(ModalFilterBackward, modal_filter_backward, modalFilterBackward)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t length, channels, states;
};

/// Term by term, of numbers as the kernels see them.
template <typename T> struct Reference {
  Doubles decay, angle, re, im, dy, y, gradients[4];

  explicit Reference(const Case &c) {
    const int64_t modes = c.states * c.channels;
    auto numbers = [&](unsigned seed, double scale) {
      Doubles values = randomDoubles(modes, seed, scale);
      for (double &value : values)
        value = static_cast<double>(static_cast<T>(value));
      return values;
    };
    decay = numbers(1, 0.02), angle = numbers(2, 2), re = numbers(3, 1), im = numbers(4, 1);
    for (double &value : decay)
      value = -std::fabs(value);
    dy = randomDoubles(c.length * c.channels, 5);
    for (Doubles &gradient : gradients)
      gradient.assign(static_cast<size_t>(modes), 0);
    for (int64_t t = 0; t < c.length; ++t)
      for (int64_t channel = 0; channel < c.channels; ++channel) {
        const double time = static_cast<double>(t),
                     g = dy[static_cast<size_t>(t * c.channels + channel)];
        double sum = 0;
        for (int64_t s = 0; s < c.states; ++s) {
          auto i = static_cast<size_t>(s * c.channels + channel);
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
  }
};

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << c.length << " positions, " << c.channels << " channels f"
                                  << 8 * sizeof(T));
  Reference<T> r(c);
  constexpr auto params = [](const Case &c) {
    return ModalFilterParams{c.length, c.channels, c.states};
  };
  const int64_t modes = c.states * c.channels, blocks = decided<ModalFilterBlocks, T>(params(c));
  Tensor<T> decay(r.decay, c.states, c.channels), angle(r.angle, c.states, c.channels),
      re(r.re, c.states, c.channels), im(r.im, c.states, c.channels), y(c.length, c.channels),
      dy(r.dy, c.length, c.channels), partial(blocks, 4 * modes);
  launch<ModalFilter, T>(of, params, {&y}, decay.data(), angle.data(), re.data(), im.data(),
                         y.data());
  EXPECT_LT(relativeError(y.values(), r.y), tolerance<T>(1e-6));
  launch<ModalFilterBackward, T>(of, params, {&partial}, decay.data(), angle.data(), re.data(),
                                 im.data(), dy.data(), partial.data());
  for (int64_t which = 0; which < 4; ++which) {
    Doubles sums(static_cast<size_t>(modes), 0);
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t i = 0; i < modes; ++i)
        sums[static_cast<size_t>(i)] += static_cast<double>(partial.at(block, which * modes + i));
    EXPECT_LT(relativeError(sums, r.gradients[which]), tolerance<T>(2e-6)) << which;
  }
}

template <typename T> struct ModalFilters : testing::Test {};
TYPED_TEST_SUITE(ModalFilters, Scalars);

constexpr Case lengths[] = {{1, 11, 3}, {65, 40, 2}, {600, 11, 3}};
TYPED_TEST(ModalFilters, OfAnyLength) {
  forEachCase<lengths>([](const auto &of) { check<TypeParam>(of); });
  if constexpr (!onCuda)
    for (int64_t length : {1, 5, 64, 65, 300})
      check<TypeParam>(Given{Case{length, 11, 3}});
}

} // namespace
