#include "training/Evaluate.h"
#include "FakeModel.h"
#include "training/Rng.h"
#include "training/Sampler.h"
#include "training/record/Progress.h"
#include <gtest/gtest.h>
#include <set>

using namespace hybrid::rt;
using hybrid::shuffledExample;

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
    EXPECT_EQ(score.sequenceAccuracy, expected.sequenceAccuracy);
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
  EXPECT_LT(b.sequenceAccuracy, 0);
}

TEST(Evaluate, AnInstanceIsRightWhenAllItsScoredPositionsAre) {
  FakeSource source(2, 5);
  FakeModel model(4, 2, 5);
  ASSERT_TRUE(model.initialize(3));
  // What the table of logits says of each token, and so of each instance.
  std::vector<double> row(5);
  std::vector<int32_t> inputs(2), targets(2), said(5);
  for (int32_t token = 0; token < 5; ++token) {
    BatchMemory memory = model.evaluationBatch(0);
    std::fill(memory.tokens.begin(), memory.tokens.end(), token);
    std::fill(memory.targets.begin(), memory.targets.end(), ignoredTarget);
    ASSERT_TRUE(model.evaluate());
    ASSERT_TRUE(model.showLogits(0));
    model.logits(0, row);
    said[static_cast<size_t>(token)] =
        static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }
  double whole = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    source.test(i, 200, inputs, targets);
    bool right = true;
    for (size_t t = 0; t < 2; ++t)
      right &= targets[t] == ignoredTarget || targets[t] == said[static_cast<size_t>(inputs[t])];
    whole += right;
  }
  EXPECT_GT(whole, 0);
  EXPECT_EQ(evaluate(model, source, 200)->sequenceAccuracy, whole / 200);
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

/// Runs that have checkpoints go on in the order in which they began.
TEST(Source, TheOrderOfExamplesIsFixedForEver) {
  const std::pair<uint64_t, uint64_t> ofMad[] = {{0, 10122},    {1, 7577},     {2, 5417},
                                                 {12799, 8781}, {12800, 7899}, {2559999, 1798}};
  for (auto [number, example] : ofMad)
    EXPECT_EQ(shuffledExample(number, 12800, 12345), example);
  for (uint64_t number = 0; uint64_t example : {6, 7, 1, 9, 2, 3, 5, 4, 8, 0, 7, 3, 8, 9, 4})
    EXPECT_EQ(shuffledExample(number++, 10, 1), example);
  EXPECT_EQ(
      shuffledExample((uint64_t{1} << 40) + 5, (uint64_t{1} << 33) + 1, (uint64_t{1} << 63) + 9),
      8302320178u);
  static_assert(shuffledExample(1, 3, 7) == 0);
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
  // Of the two that top-k leaves the first has 0.52.
  EXPECT_EQ(draws({1, 2, 0.5}), std::set<int32_t>{1});
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
