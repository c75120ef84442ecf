//===- SuiteTest.cpp - the settings of the MAD suite and its protocol ---------===//
#include "laboratory/Protocol.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace hybrid::rt::lab {
namespace {

TEST(Suite, HasThePapersSixtySixSettings) {
  auto settings = suiteSettings({}, true, false, Convention::Paper);
  ASSERT_TRUE(settings) << settings.error().message;
  std::map<std::string, int> count;
  std::set<std::string> keys;
  for (const Setting &setting : *settings) {
    ++count[setting.task];
    keys.insert(setting.key());
    auto again = Setting::parse(setting.key(), Convention::Paper);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->key(), setting.key());
    EXPECT_EQ(again->positions, setting.positions);
  }
  EXPECT_EQ(settings->size(), 66U);
  EXPECT_EQ(keys.size(), 66U);
  EXPECT_EQ(count["in-context-recall"], 11);
  EXPECT_EQ(count["fuzzy-in-context-recall"], 11);
  EXPECT_EQ(count["noisy-in-context-recall"], 14);
  EXPECT_EQ(count["selective-copying"], 13);
  EXPECT_EQ(count["compression"], 11);
  EXPECT_EQ(count["memorization"], 6);
}

TEST(Suite, ATaskAskedForAgainIsASettingOfIt) {
  auto settings = suiteSettings({"in-context-recall:vocab=8,length=16", "compression:length=8",
                                 "in-context-recall:vocab=16,length=16"},
                                false, true, Convention::Paper);
  ASSERT_TRUE(settings) << settings.error().message;
  ASSERT_EQ(settings->size(), 3U);
  EXPECT_EQ((*settings)[0].axis, "baseline");
  EXPECT_EQ((*settings)[2].task, "in-context-recall");
  EXPECT_EQ((*settings)[2].axis, "vocab");
  EXPECT_EQ((*settings)[2].axisValue, 16);
  for (const char *again : {"in-context-recall:vocab=16,length=32", "in-context-recall"}) {
    auto refused = suiteSettings({"in-context-recall:vocab=8,length=16", again}, false, true,
                                 Convention::Paper);
    ASSERT_FALSE(refused) << again;
    EXPECT_NE(refused.error().message.find("in the number of one parameter"), std::string::npos);
  }
}

TEST(Suite, UpdatesAreThoseOfTheCode) {
  Protocol protocol = Protocol::named("full", Convention::MadLab);
  auto settings = protocol.settings();
  ASSERT_TRUE(settings);
  std::map<uint64_t, int64_t> steps;
  int64_t all = 0;
  for (const Setting &setting : *settings) {
    steps[setting.trainExamples] = protocol.stepsOf(setting);
    all += protocol.stepsOf(setting) * 6;
  }
  EXPECT_EQ(steps[12800], 20000);
  EXPECT_EQ(steps[1600], 2600);
  EXPECT_EQ(steps[800], 1400);
  EXPECT_EQ(steps[256], 400);
  EXPECT_NEAR(static_cast<double>(all), 5.38e6, 0.01e6);
}

TEST(Suite, ChanceIsThatOfLegalAnswers) {
  auto settings = suiteSettings({}, false, false, Convention::Paper);
  ASSERT_TRUE(settings && settings->size() == 6);
  EXPECT_NEAR((*settings)[0].chance, 1.0 / 8, 1e-12);
  EXPECT_NEAR((*settings)[1].chance, 1.0 / 8, 1e-12);
  EXPECT_NEAR((*settings)[2].chance, 1.0 / 8, 1e-12);
  EXPECT_NEAR((*settings)[3].chance, 1.0 / 14, 1e-12);
  EXPECT_NEAR((*settings)[4].chance, (31.0 / 15 + 1) / 32, 1e-12);
  EXPECT_NEAR((*settings)[5].chance, 1.0 / 127, 1e-12);
}

TEST(Suite, TasksAreChosenByNameOrWithParameters) {
  auto chosen = suiteSettings({"compression", "in-context-recall:vocab=8,length=16"}, true, false,
                              Convention::Paper);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->size(), 12U);
  EXPECT_EQ((*chosen)[1].axis, "baseline");
  EXPECT_EQ((*chosen)[1].positions, 15);
  EXPECT_FALSE(suiteSettings({"recall"}, false, false, Convention::Paper));
  EXPECT_TRUE(
      suiteSettings({"compression", "compression:vocab=8"}, false, false, Convention::Paper));
  EXPECT_FALSE(suiteSettings({"compression", "compression:vocab=8,length=6"}, false, false,
                             Convention::Paper))
      << "two parameters differ";
}

TEST(Protocol, ComesBackFromItsJson) {
  for (Convention convention : {Convention::Paper, Convention::MadLab})
    for (const std::string &suite : suiteNames()) {
      Protocol protocol = Protocol::named(suite, convention);
      protocol.tasks = {"compression"};
      auto again = Protocol::fromJson(protocol.toJson());
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(again->toJson(), protocol.toJson());
      EXPECT_EQ(again->options(), protocol.options());
    }
  EXPECT_FALSE(Protocol::fromJson(nlohmann::json::object()));
  EXPECT_FALSE(Protocol::fromJson(nlohmann::json(3)));
}

// Suites beside MAD's: their tasks are settings along one number, with what guessing gives.
TEST(Suite, OthersThanMadHaveTasksOfTheirOwn) {
  const std::map<std::string, std::vector<std::pair<std::string, double>>> expected = {
      {"recall",
       {{"baseline", 1 / 256.},
        {"baseline", 1 / 32.},
        {"pairs", 1 / 256.},
        {"pairs", 1 / 256.},
        {"pairs", 1 / 256.}}},
      {"state",
       {{"baseline", 1 / 2.},
        {"baseline", 1 / 5.},
        {"baseline", 1 / 6.},
        {"group", 1 / 24.},
        {"group", 1 / 120.}}},
      {"reasoning",
       {{"baseline", 1 / 23.}, {"baseline", 1 / 50.}, {"operators", 1 / 23.}, {"hops", 1 / 50.}}}};
  for (const auto &[suite, wanted] : expected) {
    const Protocol protocol = Protocol::named(suite, Convention::Paper);
    auto settings = protocol.settings();
    ASSERT_TRUE(settings) << settings.error().message;
    ASSERT_EQ(settings->size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ((*settings)[i].axis, wanted[i].first);
      EXPECT_DOUBLE_EQ((*settings)[i].chance, wanted[i].second);
    }
    EXPECT_TRUE(protocol.fresh);
    EXPECT_FALSE(describeSuite(suite).empty());
  }
  for (const std::string &suite : suiteNames())
    EXPECT_FALSE(describeSuite(suite).empty()) << suite;
}

} // namespace
} // namespace hybrid::rt::lab
