// Numbers that are known of the MAD tasks from their public generators, at fixed seeds: lengths,
// scored positions, gaps, shares of noise, and what a model that knows nothing or everything must
// score.
#include "FakeModel.h"
#include "TaskInstance.h"
#include "TaskOracles.h"
#include "training/Evaluate.h"
#include "training/tasks/Statistics.h"
#include <cmath>
#include <set>

using namespace hybrid::rt;
using namespace hybrid::test;

namespace {

constexpr uint64_t testSet = 1280;

TaskStatistics testStatistics(const std::string &spec, Convention convention = Convention::Paper) {
  return statisticsOf(*make(spec, convention), defaultDataSeed, Split::Test, testSet);
}

/// Blanks before the copy token, and the mean gap before a content token.
std::pair<double, double> gapsOf(const std::string &spec) {
  TaskStatistics statistics = testStatistics(spec, Convention::MadLab);
  double answers = statistics.meanScored(); // as many blanks stand behind the copy token
  double blanks = statistics.share("_") * static_cast<double>(statistics.positions) - answers;
  return {blanks, blanks / answers};
}

} // namespace

TEST(SanityNumbers, InContextRecall) {
  TaskStatistics statistics = testStatistics("in-context-recall");
  EXPECT_EQ(statistics.positions, 127u);
  EXPECT_EQ(statistics.leastScored, 56u);
  // One in 560 sequences of 63 pairs shows but seven of the eight keys before the probe.
  EXPECT_LE(statistics.mostScored, 57u);
  EXPECT_NEAR(statistics.meanScored(), 56, 0.01);
  EXPECT_EQ(statistics.targets.size(), 8u);
  EXPECT_NEAR(statistics.share("k"), 64.0 / 127, 1e-12);

  TaskStatistics large = testStatistics("in-context-recall:vocab=128");
  EXPECT_NEAR(large.meanScored(), 23.8, 0.3);
  EXPECT_GE(large.leastScored, 14u);
  EXPECT_LE(large.mostScored, 33u);
  EXPECT_EQ(testStatistics("in-context-recall:multi_query=false").mostScored, 1u);
}

TEST(SanityNumbers, NoisyRecall) {
  for (const auto &[share, scored, noise] : {std::tuple{0.2, 43.6, 0.193}, {0.8, 7.8, 0.774}}) {
    TaskStatistics statistics = testStatistics(
        "noisy-in-context-recall:frac_noise=" + std::to_string(share), Convention::MadLab);
    EXPECT_NEAR(statistics.meanScored(), scored, 0.4);
    // Of the 64 pairs; 127 of their 128 tokens are inputs. Four standard deviations.
    double sigma = std::sqrt(62 * share * (1 - share) / testSet) / 64;
    EXPECT_NEAR(statistics.share("~") * 127 / 128, 62 * share / 64, 4 * sigma);
    EXPECT_NEAR(statistics.share("~") * 127 / 128, noise, 0.005);
  }
}

TEST(SanityNumbers, FuzzyRecall) {
  TaskStatistics statistics = testStatistics("fuzzy-in-context-recall", Convention::MadLab);
  EXPECT_EQ(statistics.positions, 128u);
  EXPECT_NEAR(statistics.meanScored(), 4.5, 0.3);
  EXPECT_EQ(statistics.leastScored, 1u);
  EXPECT_LE(statistics.mostScored, 18u);
  EXPECT_NEAR(statistics.share("_") * 128, 4.5, 0.5); // two to seven pads
  TaskStatistics longer = testStatistics("fuzzy-in-context-recall:length=512", Convention::MadLab);
  EXPECT_NEAR(longer.meanScored(), 42.8, 0.6);
}

TEST(SanityNumbers, SelectiveCopying) {
  auto [blanks, gap] = gapsOf("selective-copying");
  EXPECT_NEAR(blanks, 223, 1e-9);
  EXPECT_NEAR(gap, 13.94, 0.005);
  auto [fewBlanks, smallGap] = gapsOf("selective-copying:tokens_to_copy=96");
  EXPECT_NEAR(fewBlanks, 63, 1e-9);
  EXPECT_NEAR(smallGap, 0.656, 0.0005);
}

// How often a key is never shown in the 256 training sequences of large vocabularies: the ceiling
// of any model. The map is another than the public code's, the shares are the same.
TEST(SanityNumbers, MemorizationHasACeiling) {
  for (const auto &[vocab, seen] : {std::pair{256, 1.0}, {2048, 0.987}, {8192, 0.632}}) {
    auto task = make("memorization:vocab=" + std::to_string(vocab));
    std::set<int32_t> shown;
    for (uint64_t i = 0; i < 256; ++i) {
      Drawn instance = draw(*task, Split::Train, i);
      for (size_t t = 0; t < 32; t += 2)
        shown.insert(instance.inputs[t]);
    }
    int64_t keys = (vocab - 1) / 2;
    EXPECT_NEAR(static_cast<double>(shown.size()) / static_cast<double>(keys), seen, 0.01);
  }
}

// Chances of whoever answers legally, but knows nothing else.
TEST(SanityNumbers, ChanceAccuracies) {
  for (const auto &[spec, classes] : {std::pair{"in-context-recall", 8u},
                                      {"noisy-in-context-recall", 8u},
                                      {"fuzzy-in-context-recall", 8u},
                                      {"selective-copying", 14u},
                                      {"compression", 16u},
                                      {"memorization", 127u},
                                      {"associative-recall:length=128", 4u},
                                      {"majority", 9u},
                                      {"counting", 32u},
                                      {"arithmetic", 10u},
                                      {"safari-induction", 18u},
                                      {"mamba-selective-copying:length=256", 14u},
                                      {"induction-heads", 15u}}) {
    TaskStatistics statistics = statisticsOf(*make(spec), defaultDataSeed, Split::Test, testSet);
    EXPECT_EQ(statistics.targets.size(), classes) << spec;
  }
}

// The loss of equal scores for all ids is ln V; the fake model's scores are equal where nothing
// was learned.
TEST(SanityNumbers, EqualScoresCostTheLogarithmOfTheVocabulary) {
  auto source = makeTaskSource(make("in-context-recall"), Convention::Paper, {});
  FakeModel model(4, 127, 16);
  std::vector<double> zeros(16 * 16);
  ASSERT_TRUE(model.setState(0, 0, std::as_bytes(std::span(zeros))));
  EXPECT_NEAR(evaluate(model, *source, 64)->loss, std::log(16.0), 1e-6);
}

// mad-lab trains on every next token: nobody can know the next key (ln 8), nor the value of a key
// that is new (ln 8), and everything else can be known.
TEST(SanityNumbers, TheFloorOfTheTrainingLossOfRecall) {
  auto task = make("in-context-recall", Convention::MadLab);
  double floor = 0;
  constexpr uint64_t instances = 500;
  for (uint64_t i = 0; i < instances; ++i) {
    Drawn instance = draw(*task, Split::Train, i);
    ASSERT_EQ(scored(instance), 127u);
    std::set<int32_t> seen;
    for (size_t t = 0; t < 127; ++t)
      if (t % 2 == 1 || seen.insert(instance.inputs[t]).second)
        floor += std::log(8.0);
  }
  EXPECT_NEAR(floor / instances / 127, 1.16, 0.005);
}
