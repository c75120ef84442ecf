//===- LogisticTest.cpp - the branch-free logistic function -----------------===//
#include "codegen/kernels/cuda/Logistic.cuh"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace hybrid::cuda;

namespace {

TEST(Logistic, IsAsExactAsItSays) {
  for (int i = -40000; i <= 40000; ++i) {
    const float x = static_cast<float>(i) / 1000;
    const double exact = x, bound = std::ldexp(1 + std::abs(exact) / 8, -21),
                 expected = 1 / (1 + std::exp(-exact)), integral = std::log1p(std::exp(exact));
    float slope = 0;
    const double value = softplus(x, slope);
    ASSERT_NEAR(static_cast<double>(logistic(x)), expected, bound * expected) << x;
    ASSERT_NEAR(static_cast<double>(slope), expected, bound * expected) << x;
    ASSERT_NEAR(value, integral, bound * integral) << x;
  }
}

TEST(Logistic, EndsWhereNumbersEnd) {
  const float infinite = std::numeric_limits<float>::infinity();
  float slope = 0;
  for (float x : {1e30f, infinite}) {
    EXPECT_EQ(logistic(x), 1);
    EXPECT_EQ(logistic(-x), 0);
    EXPECT_EQ(softplus(x, slope), x);
    EXPECT_EQ(slope, 1);
    EXPECT_EQ(softplus(-x, slope), 0);
    EXPECT_EQ(slope, 0);
  }
  EXPECT_TRUE(std::isnan(logistic(std::nanf(""))));
  EXPECT_TRUE(std::isnan(softplus(std::nanf(""), slope)));
  EXPECT_TRUE(std::isnan(slope));
}

TEST(Logistic, IsThatOfThePreludeInF64) {
  double slope = 0;
  for (double x : {-3.0, 0.0, 5.0}) {
    EXPECT_EQ(logistic(x), sigmoid(x));
    EXPECT_EQ(softplus(x, slope), softplus(x));
    EXPECT_EQ(slope, sigmoid(x));
  }
}

} // namespace
