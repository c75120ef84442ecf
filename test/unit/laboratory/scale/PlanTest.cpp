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

std::vector<std::string> sizesOf(const std::vector<PlannedRun> &runs) {
  std::vector<std::string> sizes;
  for (const PlannedRun &run : runs)
    sizes.push_back(run.size);
  return sizes;
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
  PlanOptions options = optionsOf({8e18}, {});
  options.sizesEach = 5;
  auto runs = planRuns(options, simpleCost);
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(sizesOf(*runs), (std::vector<std::string>{"70M", "134M", "251M", "536M", "1010M"}));
  runs = planRuns(optionsOf({8e18, 8e19}, {}), simpleCost);
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
  EXPECT_EQ(sizesOf(*runs), (std::vector<std::string>{"w24", "w32", "w40", "w56", "w80", "w96"}));
  EXPECT_EQ((*runs)[0].batch * 2048, 4096) << "batches fall with the budget";
  EXPECT_NEAR((*runs)[0].rate, 9.9e-4 * std::pow(1e12 / 4e18, -0.125), 2e-5);
  auto none = planRuns(optionsOf({1e9}, {}), [](const auto &, const auto &, int64_t) {
    return Result<SizeCost>(SizeCost{1e6, 1e6, 6e6, 1e6, {}});
  });
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("name them with --sizes"), std::string::npos)
      << none.error().message;
}

/// What a plan trains beside 350M and 440M at two budgets.
Result<std::vector<PlannedRun>> sweptRuns(std::vector<double> SweepOptions::*kind,
                                          std::vector<double> factors,
                                          const std::vector<std::string> &sizes) {
  PlanOptions options = optionsOf({8e18, 8e19}, sizes);
  options.architectures[0].settings.push_back("ratio=3");
  options.architectures.push_back({"model.hyb", "without", {"heads=4"}});
  options.sweeps.*kind = std::move(factors);
  options.sweeps.budget = 8e18;
  auto runs = planRuns(options, simpleCost);
  if (runs)
    std::erase_if(*runs, [](const PlannedRun &run) { return run.sweep.empty(); });
  return runs;
}

TEST(ScalePlan, SweepsRatiosThatAreNotPlanned) {
  auto runs = sweptRuns(&SweepOptions::ratios, {1, 3}, {"350M", "440M"});
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 2u) << "3 is planned, and one model has no ratio";
  EXPECT_EQ((*runs)[0].sweep, "ratios");
  EXPECT_EQ((*runs)[1].architecture, "model ratio=1");
  EXPECT_EQ((*runs)[1].settings, (std::vector<std::string>{"heads=2", "ratio=1", "size=440M"}));
  EXPECT_EQ((*runs)[1].budget, 8e18);
}

TEST(ScalePlan, SweepsSmallerModelsOnMoreTokens) {
  // 20 tokens a parameter: of the six sizes for 8e18 FLOPs, from 70M, 196M is next to that.
  auto runs = sweptRuns(&SweepOptions::overtrain, {2.8, 24}, {});
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(sizesOf(*runs), (std::vector<std::string>{"8M", "8M"})) << "70M is planned";
  const PlannedRun &run = runs->front();
  EXPECT_EQ(run.sweep, "overtrain");
  EXPECT_EQ(run.factor, 24);
  EXPECT_NEAR(run.tokens, 8e18 / 6 / 8e6, 1 << 18) << "at equal FLOPs";
  auto none = sweptRuns(&SweepOptions::overtrain, {200}, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("--overtrain 200: of model no size has about 9.8e+05"),
            std::string::npos)
      << none.error().message;
}

TEST(ScalePlan, SweepsBatchesOfTheSizeInTheMiddle) {
  auto runs = sweptRuns(&SweepOptions::batches, {0.5, 1, 2}, {"134M", "350M", "1010M"});
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 4u) << "1 is planned";
  const PlannedRun &half = runs->front();
  EXPECT_EQ(half.size, "350M");
  EXPECT_EQ(half.batch, 128);
  EXPECT_EQ(half.steps, 14532);
  EXPECT_EQ(half.factor, 0.5);
  EXPECT_EQ((*runs)[1].batch, 512);
  EXPECT_EQ((*runs)[1].rate, half.rate) << "the rule does not ask for the batch";
}

TEST(ScalePlan, TakesOneRateWithABaseWidth) {
  PlanOptions options = optionsOf({8e18}, {"350M", "38M"});
  options.baseWidth = 128;
  auto runs = planRuns(options, simpleCost);
  ASSERT_TRUE(runs);
  EXPECT_EQ((*runs)[0].rate, 9.77e-4) << "that of 8M";
  EXPECT_EQ((*runs)[1].rate, 9.77e-4);
  EXPECT_NE(commandOf(options, runs->front())
                .find("--optimizer 'adamw_by_fan_in with (base = 128, beta2 = 0.95)'"),
            std::string::npos)
      << commandOf(options, runs->front());
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
