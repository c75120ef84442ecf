//===- PresetTest.cpp - the papers' training recipes by name --------------------===//
#include "laboratory/paper/Preset.h"
#include <gtest/gtest.h>

namespace hybrid::rt::lab {
namespace {

Result<std::vector<Preset>> read(const std::string &text) {
  return parsePresets(text, "presets.json");
}

TEST(PresetTest, TheRateIsLinearBetweenSizesAndTheRestIsTheNearestSizes) {
  auto presets = read(R"({"a": {"source": "s", "clip": 1, "sizes": [
    {"parameters": 100, "lr": 0.003, "steps": 10}, {"parameters": 300, "lr": 0.001, "steps": 30}]}})");
  ASSERT_TRUE(presets) << presets.error().message;
  const Preset &preset = presets->front();
  EXPECT_DOUBLE_EQ(*preset.at(200).learningRate, 0.002);
  EXPECT_EQ(*preset.at(150).steps, 10);
  EXPECT_EQ(*preset.at(250).steps, 30);
  // Nothing is made up beyond the table.
  EXPECT_DOUBLE_EQ(*preset.at(1).learningRate, 0.003);
  EXPECT_DOUBLE_EQ(*preset.at(1e9).learningRate, 0.001);
  EXPECT_EQ(*preset.at(1e9).clip, 1);
  EXPECT_FALSE(preset.at(200).beta2);
}

TEST(PresetTest, FaultsNameFileAndKey) {
  const std::pair<const char *, const char *> cases[] = {
      {R"({"a": {"lr": 1}})", "presets.json: a.source: is missing"},
      {R"({"a": {"source": "s", "rate": 1}})", "presets.json: a.rate: is no key here"},
      {R"({"a": {"source": "s", "lr": "high"}})", "presets.json: a.lr: is \"high\""},
      {R"({"a": {"source": "s", "lr": -1}})", "presets.json: a.lr: is -1; expected"},
      {R"({"a": {"source": "s", "schedule": "cosinus"}})", "presets.json: a.schedule: "},
      {R"({"a": {"source": "s", "sizes": [{"parameters": 3}, {"parameters": 2}]}})",
       "presets.json: a.sizes[1].parameters: is no larger"},
      {R"({"a": {"source": "s", "budgets": [{"flops": 1e18, "batch_tokens": 0}]}})",
       "presets.json: a.budgets[0].batch_tokens: is 0; expected"},
      {R"([])", "presets.json: is no object"}};
  for (const auto &[text, expected] : cases) {
    auto presets = read(text);
    ASSERT_FALSE(presets) << text;
    EXPECT_NE(presets.error().message.find(expected), std::string::npos) << presets.error().message;
  }
}

TEST(PresetTest, ScalingHasRowsByBudgetThatTrainingsDoNotAskFor) {
  auto preset = findPreset("mad-scaling");
  ASSERT_TRUE(preset) << preset.error().message;
  ASSERT_EQ(preset->budgets.size(), 3u);
  EXPECT_EQ(preset->budgets[1].flops, 2e20);
  EXPECT_EQ(*preset->budgets[1].values.batchTokens, 1 << 20);
  EXPECT_EQ(*preset->at(350e6).batchTokens, 1 << 19);
  EXPECT_EQ(*preset->at(38e6).batchTokens, 1 << 18);
}

TEST(PresetTest, ANameThatIsNotThereIsToldWithTheNearest) {
  auto preset = findPreset("mamba-dns");
  ASSERT_FALSE(preset);
  EXPECT_NE(preset.error().message.find("did you mean 'mamba-dna'?"), std::string::npos);
}

} // namespace
} // namespace hybrid::rt::lab
