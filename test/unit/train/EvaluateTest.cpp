#include "runtime/train/Evaluate.h"
#include "FakeModel.h"
#include "runtime/Rng.h"
#include "runtime/train/Progress.h"
#include "runtime/train/Sampler.h"
#include <gtest/gtest.h>
#include <set>

using namespace hybrid::rt;

TEST(Evaluate, ScoreDoesNotDependOnTheBatchSizeOrPadding) {
  FakeSource source(9, 5);
  FakeModel reference(1, 9, 5);
  ASSERT_TRUE(reference.initialize(1));
  EvaluationScore expected = *evaluate(reference, source, 100);
  EXPECT_EQ(expected.scored, 600);
  EXPECT_GT(expected.madAccuracy, 0);
  for (auto [batch, length] : {std::pair{7, 9}, {32, 9}, {128, 12}, {1, 30}, {128, 64}}) {
    FakeModel model(batch, length, 5);
    ASSERT_TRUE(model.initialize(1));
    EvaluationScore score = *evaluate(model, source, 100);
    EXPECT_EQ(score.loss, expected.loss);
    EXPECT_EQ(score.accuracy, expected.accuracy);
    EXPECT_EQ(score.madAccuracy, expected.madAccuracy);
    EXPECT_EQ(score.scored, expected.scored);
  }
}

TEST(Evaluate, WithoutLogitsTheProgramsOwnNumbersAreCombined) {
  FakeSource source(9, 5);
  FakeModel shown(4, 9, 5), hidden(4, 9, 5);
  hidden.showsLogits = false;
  ASSERT_TRUE(shown.initialize(1) && hidden.initialize(1));
  EvaluationScore a = *evaluate(shown, source, 10), b = *evaluate(hidden, source, 10);
  EXPECT_NEAR(a.loss, b.loss, 1.5e-6);
  EXPECT_EQ(a.accuracy, b.accuracy);
  EXPECT_LT(b.madAccuracy, 0);
}

TEST(Evaluate, TakesNoMoreInstancesThanThereAre) {
  FakeSource source(9, 5);
  EXPECT_EQ(examplesFor(source, 0), 1280u);
  EXPECT_EQ(examplesFor(source, 5000), 5000u);
  source.available = 40;
  EXPECT_EQ(examplesFor(source, 0), 40u);
  EXPECT_EQ(examplesFor(source, 5000), 40u);
}

TEST(Evaluate, RefusesLongerInstancesAndLargerVocabularies) {
  FakeModel model(2, 8, 5);
  EXPECT_NE(checkFits(model, FakeSource(9, 5)).error().message.find("--length 9"),
            std::string::npos);
  EXPECT_NE(checkFits(model, FakeSource(8, 6)).error().message.find("--set vocab=6"),
            std::string::npos);
  EXPECT_TRUE(checkFits(model, FakeSource(7, 4)));
}

// The hand-made batches of the MAD metric: classes that were only predicted count as zero.
TEST(MacroAccuracy, CountsClassesAsMadDoes) {
  auto value = [](std::vector<int32_t> predictions) {
    MacroAccuracy macro(16);
    const int32_t targets[] = {8, 8, 9};
    for (size_t i = 0; i < 3; ++i)
      macro.add(targets[i], predictions[i]);
    return macro.value();
  };
  EXPECT_DOUBLE_EQ(value({8, 9, 9}), 0.75);
  EXPECT_DOUBLE_EQ(value({8, 3, 9}), 0.5);
}

TEST(Source, PermutationIsOneForEverySize) {
  for (uint64_t size : {1, 2, 3, 5, 16, 17, 1000, 12800}) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < size; ++i) {
      uint64_t at = permuted(i, size, 99);
      ASSERT_LT(at, size);
      seen.insert(at);
    }
    EXPECT_EQ(seen.size(), size);
  }
  EXPECT_NE(permuted(0, 12800, 1), permuted(0, 12800, 2));
}

TEST(Source, AFiniteTaskSetIsShuffledAnewEachEpoch) {
  auto source = makeTaskSource(std::move(*createTask("in-context-recall:length=32")),
                               Convention::Paper, {1, defaultDataSeed, 10});
  std::set<std::vector<int32_t>> first, second;
  std::vector<std::vector<int32_t>> order[2];
  std::vector<int32_t> inputs(31), targets(31);
  for (uint64_t n = 0; n < 20; ++n) {
    source->train(n, inputs, targets);
    (n < 10 ? first : second).insert(inputs);
    order[n / 10].push_back(inputs);
  }
  EXPECT_EQ(first.size(), 10u);
  EXPECT_EQ(first, second);
  EXPECT_NE(order[0], order[1]);
}

TEST(Sampler, RespectsTemperatureTopKAndTopP) {
  std::vector<double> logits = {0, 3, 1, 2.9};
  auto draws = [&](SamplerOptions options) {
    std::set<int32_t> seen;
    for (uint64_t i = 0; i < 500; ++i) {
      std::vector<double> copy = logits;
      Rng rng(1, 2, i);
      seen.insert(sampleToken(copy, options, rng));
    }
    return seen;
  };
  EXPECT_EQ(draws({0, 0, 1}), std::set<int32_t>{1});
  EXPECT_EQ(draws({1, 2, 1}), (std::set<int32_t>{1, 3}));
  EXPECT_EQ(draws({1, 0, 0.4}), std::set<int32_t>{1});
  EXPECT_EQ(draws({2, 0, 1}).size(), 4u);
}

TEST(Progress, FitsItsWidth) {
  ProgressReport report{50, 100, 1.25, 0.5, 12345, 65};
  EXPECT_NE(progressLine(report, 100).find("[###"), std::string::npos);
  EXPECT_NE(progressLine(report, 100).find("1:05 left"), std::string::npos);
  for (int width : {10, 40, 80, 120})
    EXPECT_LE(progressLine(report, width).size(), static_cast<size_t>(width));
  EXPECT_EQ(progressLine(report, 0).find('['), std::string::npos);
  EXPECT_EQ(clockText(3723), "1:02:03");
}
