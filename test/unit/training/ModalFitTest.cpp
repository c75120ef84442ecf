//===- ModalFitTest.cpp - filters as sums of damped oscillations --------------===//
#include "training/distill/ModalFit.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace hybrid::rt::distill;

namespace {

double errorOf(std::span<const double> filter, const ModalFit &fit) {
  const std::vector<double> response = responseOf(fit.modes, static_cast<int64_t>(filter.size()));
  double difference = 0, size = 0;
  for (size_t t = 0; t < filter.size(); ++t) {
    difference += std::pow(filter[t] - response[t], 2);
    size += filter[t] * filter[t];
  }
  return std::sqrt(difference / size);
}

/// Decays over some to some hundred positions; one of them does not turn.
std::vector<Mode> someModes(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.2, 1);
  std::vector<Mode> modes;
  for (int64_t i = 0; i < count; ++i)
    modes.push_back({-5 * uniform(random), i ? 3 * uniform(random) : 0, uniform(random),
                     i ? -uniform(random) : 0});
  return modes;
}

TEST(ModalFit, FindsAFilterThatIsModal) {
  for (int64_t length : {16, 100, 301, 700}) // the last two by a random subspace, too
    for (int64_t count : {1, 2, 4}) {
      const std::vector<double> filter = responseOf(someModes(count, 5), length);
      for (int64_t modes : {count, count + 3}) {
        const ModalFit fit = ModalFitter(filter, 7).fit(modes);
        EXPECT_EQ(static_cast<int64_t>(fit.modes.size()), modes);
        EXPECT_LT(fit.error, 1e-9) << length << ' ' << count << ' ' << modes;
        EXPECT_NEAR(errorOf(filter, fit), fit.error, 1e-12);
      }
    }
}

TEST(ModalFit, MoreModesComeNearer) {
  std::vector<double> filter;
  for (int64_t t = 0; t < 256; ++t) {
    const auto x = static_cast<double>(t);
    filter.push_back(std::sin(10 * std::sin(0.01 * x + 1) + 0.3 * x) * std::exp(-x / 64));
  }
  const ModalFitter fitter(filter, 32);
  double before = 1;
  for (int64_t modes : {1, 2, 4, 8, 16, 32}) {
    const ModalFit fit = fitter.fit(modes);
    EXPECT_NEAR(errorOf(filter, fit), fit.error, 1e-9);
    EXPECT_LT(fit.error, before) << modes;
    before = fit.error;
  }
  EXPECT_LT(before, 0.05);
}

TEST(ModalFit, OfAFilterThatHasLittleToSay) {
  const std::vector<double> zero(40, 0.0), two{1, 0.5};
  std::vector<double> impulse(40, 0.0);
  impulse[0] = 3;
  for (const Mode &mode : ModalFitter(zero, 4).fit(4).modes)
    EXPECT_EQ(mode.re, 0);
  EXPECT_LT(ModalFitter(impulse, 4).fit(2).error, 1e-12);
  EXPECT_LT(ModalFitter(two, 4).fit(3).error, 1e-9);
}

} // namespace
