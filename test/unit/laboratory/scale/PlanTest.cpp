//===- PlanTest.cpp - what a budget buys ----------------------------------------------===//
#include "laboratory/scale/Plan.h"
#include <cmath>
#include <gtest/gtest.h>

namespace hybrid::rt::lab::scale {
namespace {

/// A model of as many parameters as its size says, at 6 FLOPs per parameter and token; 16 bytes a
/// parameter and a megabyte a sequence.
Result<SizeCost> simpleCost(const std::string &, const std::vector<std::string> &settings,
                            int64_t batch) {
  double params = std::stod(settings.back().substr(settings.back().find('=') + 1)) * 1e6;
  return SizeCost{params, params, 6 * params, 16 * params + 1e6 * static_cast<double>(batch), {}};
}

PlanOptions optionsOf(std::vector<double> budgets, std::vector<std::string> sizes) {
  PlanOptions options;
  options.architectures = {{"model.hyb", "model", {"heads=2"}}};
  options.budgets = std::move(budgets);
  options.sizes = std::move(sizes);
  return options;
}

TEST(ScalePlan, BuysTokensByTheTables) {
  auto runs = planRuns(optionsOf({8e18}, {"350M", "38M"}), simpleCost);
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 2u);
  const PlannedRun &run = runs->front();
  EXPECT_EQ(run.settings, (std::vector<std::string>{"heads=2", "size=350M"}));
  EXPECT_EQ(run.batch, 256) << "524 288 tokens";
  EXPECT_EQ(run.steps, 7266);
  EXPECT_EQ(run.warmup, 73);
  EXPECT_EQ(run.rate, 6e-4);
  EXPECT_NEAR(run.tokens, 8e18 / 6 / 350e6, 524288 / 2);
  EXPECT_NEAR(run.flops / 8e18, 1, 1e-3);
  EXPECT_EQ(run.cost.bytes, 16 * 350e6 + 256e6);
  EXPECT_EQ((*runs)[1].batch, 128) << "below 54M parameters 262 144 tokens";
}

TEST(ScalePlan, EstimatesTimeAndMemoryOfADevice) {
  PlanOptions options = optionsOf({8e18}, {"350M", "7000M"});
  options.device = *deviceModel("1e14:6e9");
  auto runs = planRuns(options, simpleCost);
  ASSERT_TRUE(runs);
  EXPECT_NEAR(*(*runs)[0].seconds, 8e4, 100);
  EXPECT_EQ(*(*runs)[0].sequencesThatFit, 256);
  EXPECT_EQ((*runs)[0].remark, "");
  EXPECT_EQ(*(*runs)[1].sequencesThatFit, 0);
  EXPECT_EQ((*runs)[1].remark, "0 of 256 sequences fit at a time");
  options.device = *deviceModel("1e14:5700e6");
  runs = planRuns(options, simpleCost);
  EXPECT_EQ((*runs)[0].remark, "100 of 256 sequences fit at a time");
  EXPECT_FALSE(deviceModel("h10"));
  EXPECT_NE(deviceModel("h10").error().message.find("did you mean h100?"), std::string::npos);
  EXPECT_NEAR(deviceModel("h100")->seconds(989e12), 2.5, 1e-9);
}

TEST(ScalePlan, TakesSizesOfTheTableAroundARule) {
  // 20 tokens a parameter: 8e18 FLOPs are best spent on 258M parameters.
  EXPECT_EQ(tableSizes(8e18, 5),
            (std::vector<std::string>{"70M", "134M", "251M", "536M", "1010M"}));
  auto runs = planRuns(optionsOf({8e18, 8e19}, {}), simpleCost);
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->size(), 12u);
}

TEST(ScalePlan, TakesSmallSizesByTheirRule) {
  // 91 thousand parameters for 1e12 FLOPs; as many as 40 times the square of the width.
  auto runs = planRuns(optionsOf({1e12}, {}), [](const auto &, const auto &settings, int64_t) {
    const double width = std::stod(settings.back().substr(std::string("size=w").size()));
    return Result<SizeCost>(
        SizeCost{40 * width * width, 40 * width * width, 240 * width * width, 1e6, {}});
  });
  ASSERT_TRUE(runs) << runs.error().message;
  std::vector<std::string> sizes;
  for (const PlannedRun &run : *runs)
    sizes.push_back(run.size);
  EXPECT_EQ(sizes, (std::vector<std::string>{"w24", "w32", "w40", "w56", "w80", "w96"}));
  EXPECT_EQ((*runs)[0].batch * 2048, 4096) << "batches fall with the budget";
  EXPECT_NEAR((*runs)[0].rate, 9.9e-4 * std::pow(1e12 / 4e18, -0.125), 2e-5);
  auto none = planRuns(optionsOf({1e9}, {}), [](const auto &, const auto &, int64_t) {
    return Result<SizeCost>(SizeCost{1e6, 1e6, 6e6, 1e6, {}});
  });
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("name them with --sizes"), std::string::npos)
      << none.error().message;
}

TEST(ScalePlan, PlansASweepAtItsBudget) {
  PlanOptions options = optionsOf({8e18, 8e19}, {"350M", "440M"});
  options.sweep = {{"model.hyb", "model ratio=1", {"ratio=1"}}};
  options.sweepBudget = 8e18;
  auto runs = planRuns(options, simpleCost);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 6u);
  EXPECT_FALSE((*runs)[3].isSweep);
  EXPECT_TRUE((*runs)[4].isSweep);
  EXPECT_EQ((*runs)[5].budget, 8e18);
}

TEST(ScalePlan, NamesWhatCannotBeCounted) {
  auto runs =
      planRuns(optionsOf({8e18}, {"350M"}),
               [](const auto &, const auto &, int64_t) -> Result<SizeCost> { return Error{"no"}; });
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().message, "model of size 350M: no");
}

} // namespace
} // namespace hybrid::rt::lab::scale
