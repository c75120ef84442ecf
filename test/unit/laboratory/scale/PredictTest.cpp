//===- PredictTest.cpp - what a law says of a budget, and its rules -------------------===//
#include "laboratory/scale/Predict.h"
#include "laboratory/scale/Rules.h"
#include "test/unit/laboratory/scale/Chinchilla.h"
#include <gtest/gtest.h>

namespace hybrid::rt::lab::scale {
namespace {

TEST(ScalePredict, ComesNearTheLawThatPointsWereDrawnFrom) {
  FitOptions options;
  options.bootstrap.samples = 200;
  Fit fit = fitPoints(drawPoints({}, 0.001, 5), options);
  auto prediction = predict(fit.groups.front(), 1e21, 0.95);
  ASSERT_TRUE(prediction);
  double params = chinchilla().optimalSize(1e21, 6);
  // Parabolas lie beside the best size by a share that depends on how far the sizes reach.
  EXPECT_NEAR(prediction->advice.params.value / params, 1, 0.1);
  EXPECT_NEAR(prediction->parametric->params.value / params, 1, 0.1);
  const Estimate &loss = prediction->advice.loss;
  EXPECT_NEAR(loss.value, chinchilla().loss(params, 1e21 / 6 / params), 0.02);
  ASSERT_TRUE(loss.interval);
  EXPECT_LT(loss.interval->low, loss.value);
  EXPECT_GT(loss.interval->high, loss.value);
  EXPECT_NEAR(prediction->beyond, 10, 0.01);
  ASSERT_EQ(prediction->warnings.size(), 1u);
  EXPECT_NE(prediction->warnings[0].find("extrapolates 10 times above the largest budget"),
            std::string::npos)
      << prediction->warnings[0];
  EXPECT_EQ(prediction->batch, 0x1p20);

  auto inside = predict(fit.groups.front(), 1e19, 0.95);
  EXPECT_EQ(inside->beyond, 1);
  EXPECT_TRUE(inside->warnings.empty());
  EXPECT_LT(inside->advice.params.interval->high - inside->advice.params.interval->low,
            prediction->advice.params.interval->high - prediction->advice.params.interval->low);
}

TEST(ScalePredict, SaysNothingOfNothing) { EXPECT_FALSE(predict(GroupFit{}, 1e18, 0.95)); }

TEST(ScaleRules, AreThePapersTables) {
  // Tables D.1 and D.2 of Poli et al. 2024.
  EXPECT_EQ(batchTokens(4e18, 100e6), 524288);
  EXPECT_EQ(batchTokens(8e19, 1e9), 524288);
  EXPECT_EQ(batchTokens(8e19, 38e6), 262144);
  EXPECT_EQ(batchTokens(2e20, 1e9), 1048576);
  EXPECT_EQ(batchTokens(2e21, 7e9), 2097152);
  EXPECT_DOUBLE_EQ(learningRate(4e18, 8e6), 9.77e-4);
  EXPECT_DOUBLE_EQ(learningRate(4e18, 350e6), 6e-4);
  EXPECT_DOUBLE_EQ(learningRate(4e18, 7e9), 2e-4);
  EXPECT_DOUBLE_EQ(learningRate(4e18, 9e9), 2e-4);
  EXPECT_NEAR(learningRate(4e18, 395e6), (6.00e-4 + 5.66e-4) / 2, 1e-9);
  EXPECT_GT(learningRate(4e18, 1e6), 9.77e-4);
  // Smaller budgets have smaller batches, down to some hundreds of tokens.
  EXPECT_EQ(batchTokens(1e14, 1e6), 16384);
  EXPECT_LE(batchTokens(1e10, 1e4), 1024);
  EXPECT_EQ(batchTokens(1, 1), 256);
}

} // namespace
} // namespace hybrid::rt::lab::scale
