// The Hyena paper's tasks: the examples of their layouts, how contents are distributed, and what is
// refused.
#include "TaskInstance.h"
#include <algorithm>
#include <set>

using namespace hybrid::rt;
using namespace hybrid::test;

namespace {

size_t at(int32_t token) { return static_cast<size_t>(token); }

int64_t number(const int32_t *digits, int64_t count) {
  int64_t value = 0;
  for (int64_t i = 0; i < count; ++i)
    value = 10 * value + digits[i];
  return value;
}

} // namespace

TEST(AssociativeRecall, PairsThenThePrefixThenAKeyThatWasShown) {
  auto task = make("associative-recall:vocab=10,length=20");
  EXPECT_EQ(task->positions(), 22);
  EXPECT_EQ(task->vocabulary(), 10);
  for (Split split : {Split::Train, Split::Test})
    for (uint64_t i = 0; i < 300; ++i) {
      Drawn instance = draw(*task, split, i);
      for (size_t t = 0; t < 20; ++t)
        ASSERT_TRUE(t % 2 ? instance.inputs[t] >= 5 && instance.inputs[t] <= 8
                          : instance.inputs[t] >= 1 && instance.inputs[t] <= 4);
      EXPECT_EQ(instance.inputs[20], 9);
      EXPECT_TRUE(instance.inputs[21] >= 1 && instance.inputs[21] <= 4);
      EXPECT_EQ(scored(instance), split == Split::Train ? 22u : 1u);
      EXPECT_NE(instance.targets.back(), ignoredTarget);
      if (split == Split::Train) {
        EXPECT_TRUE(std::equal(instance.inputs.begin() + 1, instance.inputs.end(),
                               instance.targets.begin()));
      }
    }
  auto masked = make("associative-recall:vocab=10,length=20,train_targets=answer");
  EXPECT_EQ(scored(draw(*masked, Split::Train, 0)), 1u);
  EXPECT_EQ(draw(*masked, Split::Train, 0).inputs, draw(*task, Split::Train, 0).inputs);
}

TEST(AssociativeRecall, KeysMapsAndProbesAreUniform) {
  auto task = make("associative-recall:vocab=10,length=40");
  std::vector<double> keys(4), maps(16), probes(4);
  for (uint64_t i = 0; i < 4000; ++i) {
    Drawn instance = draw(*task, Split::Test, i);
    std::set<int32_t> seen;
    for (size_t t = 0; t < 40; t += 2) {
      int32_t key = instance.inputs[t];
      ++keys[at(key - 1)];
      if (seen.insert(key).second)
        ++maps[at((key - 1) * 4 + instance.inputs[t + 1] - 5)];
    }
    ++probes[at(instance.inputs.back() - 1)];
  }
  EXPECT_LT(chiSquare(keys), chiSquareLimit(4));
  EXPECT_LT(chiSquare(maps), chiSquareLimit(16));
  EXPECT_LT(chiSquare(probes), chiSquareLimit(4));
}

// Ten ids: four keys, four values, one that is never used, and the prefix.
TEST(AssociativeRecall, GuessingIsAmongTheValues) {
  EXPECT_DOUBLE_EQ(make("associative-recall:vocab=10,length=20")->chanceAccuracy(), 1 / 4.);
}

TEST(AssociativeRecall, KeysMayBeTuples) {
  auto task = make("associative-recall:vocab=12,length=30,num_keys=2");
  EXPECT_EQ(task->positions(), 33);
  std::set<std::pair<int32_t, int32_t>> keys;
  for (uint64_t i = 0; i < 200; ++i) {
    Drawn instance = draw(*task, Split::Test, i);
    for (size_t t = 0; t < 30; t += 3)
      keys.emplace(instance.inputs[t], instance.inputs[t + 1]);
  }
  EXPECT_EQ(keys.size(), 25u); // five keys, tuples with repetition
}

TEST(AssociativeRecall, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("associative-recall:length=21").find("multiple of 2"), std::string::npos);
  EXPECT_NE(refusal("associative-recall:length=20,num_keys=2").find("multiple of 3"),
            std::string::npos);
  EXPECT_NE(refusal("associative-recall:vocab=3").find("from 4"), std::string::npos);
  EXPECT_NE(refusal("associative-recall:train_targets=values").find("all, answer"),
            std::string::npos);
}

TEST(Majority, TheQueryIsLastAndContentsAreUniform) {
  auto task = make("majority:vocab=6,length=9");
  EXPECT_EQ(task->positions(), 10);
  std::vector<double> answers(5), contents(5), places(10);
  for (uint64_t i = 0; i < 8000; ++i) {
    Drawn instance = draw(*task, Split::Train, i);
    ASSERT_EQ(instance.inputs.back(), 5);
    ASSERT_EQ(scored(instance), 1u);
    int32_t answer = instance.targets.back();
    ++answers[at(answer)];
    for (size_t t = 0; t < 9; ++t) {
      ASSERT_LT(instance.inputs[t], 5);
      places[t] += instance.inputs[t] == answer;
    }
    ++contents[at(instance.inputs[i % 9])];
  }
  places.pop_back();
  EXPECT_LT(chiSquare(answers), chiSquareLimit(5));
  EXPECT_LT(chiSquare(contents), chiSquareLimit(5));
  EXPECT_LT(chiSquare(places), chiSquareLimit(9));
  EXPECT_NE(refusal("majority:vocab=1").find("from 2"), std::string::npos);
  EXPECT_NE(refusal("majority:length=0").find("from 1"), std::string::npos);
}

TEST(Counting, AnswersTokensAndPlacesAreUniform) {
  auto task = make("counting:vocab=13,length=12,most=8"); // content 0-3, counts 4-12
  std::vector<double> answers(8), asked(4), places(11), others(3);
  for (uint64_t i = 0; i < 8000; ++i) {
    Drawn instance = draw(*task, Split::Test, i);
    ASSERT_EQ(scored(instance), 1u);
    ++answers[at(instance.targets.back() - 5)];
    int32_t last = instance.inputs.back();
    ++asked[at(last)];
    for (size_t t = 0; t < 11; ++t) {
      ASSERT_LT(instance.inputs[t], 4);
      places[t] += instance.inputs[t] == last;
      if (instance.inputs[t] != last)
        ++others[at(instance.inputs[t] - (instance.inputs[t] > last))];
    }
  }
  EXPECT_LT(chiSquare(answers), chiSquareLimit(8));
  EXPECT_LT(chiSquare(asked), chiSquareLimit(4));
  EXPECT_LT(chiSquare(places), chiSquareLimit(11));
  EXPECT_LT(chiSquare(others), chiSquareLimit(3));
}

TEST(Counting, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("counting:vocab=10,most=8").find("leaves 1 ids"), std::string::npos);
  EXPECT_EQ(refusal("counting:vocab=11,most=8"), "accepted");
  EXPECT_NE(refusal("counting:length=31").find("most=32 is more than"), std::string::npos);
  EXPECT_NE(refusal("counting:most=0").find("from 1"), std::string::npos);
}

TEST(Arithmetic, TheTargetsAreTheSum) {
  for (int64_t digits : {1, 2, 4, 8}) {
    auto task = make("arithmetic:digits=" + std::to_string(digits));
    EXPECT_EQ(task->vocabulary(), 10);
    EXPECT_EQ(task->positions(), 3 * digits);
    for (uint64_t i = 0; i < 300; ++i) {
      Drawn instance = draw(*task, Split::Train, i);
      ASSERT_EQ(scored(instance), static_cast<size_t>(digits + 1));
      const int32_t *inputs = instance.inputs.data();
      EXPECT_EQ(number(inputs, digits) + number(inputs + digits, digits),
                number(instance.targets.data() + 2 * digits - 1, digits + 1));
      EXPECT_EQ(number(inputs + 2 * digits, digits),
                number(instance.targets.data() + 2 * digits - 1, digits));
    }
  }
}

// Every pair of two-digit numbers, drawn often: none is on both sides, for any seeds, nor is a + b
// on one and b + a on the other.
TEST(Arithmetic, NoPairOfOperandsIsInBothSplits) {
  for (const auto &[digits, pairs, draws] : {std::tuple{2, 10000.0, 60000u}, {1, 100.0, 2000u}}) {
    auto task = make("arithmetic:digits=" + std::to_string(digits));
    std::set<std::pair<int64_t, int64_t>> sides[2];
    for (Split split : {Split::Train, Split::Test})
      for (uint64_t i = 0; i < draws; ++i) {
        Drawn instance = draw(*task, split, i, split == Split::Train ? 1 : 2);
        int64_t a = number(instance.inputs.data(), digits),
                b = number(instance.inputs.data() + digits, digits);
        sides[split == Split::Test].emplace(a, b);
      }
    for (auto [a, b] : sides[1]) {
      EXPECT_EQ(sides[0].count({a, b}), 0u);
      EXPECT_EQ(sides[0].count({b, a}), 0u);
    }
    // Nearly all pairs were met; a tenth of them are tests.
    EXPECT_GT(static_cast<double>(sides[0].size() + sides[1].size()), 0.99 * pairs);
    EXPECT_NEAR(static_cast<double>(sides[1].size()) / pairs, 0.1, digits == 1 ? 0.08 : 0.02);
  }
  EXPECT_NE(refusal("arithmetic:digits=0").find("from 1"), std::string::npos);
}

TEST(Arithmetic, OperandsAreUniform) {
  auto task = make("arithmetic:digits=4");
  for (Split split : {Split::Train, Split::Test}) {
    std::vector<double> counts(8 * 10);
    for (uint64_t i = 0; i < 4000; ++i) {
      Drawn instance = draw(*task, split, i);
      for (size_t t = 0; t < 8; ++t)
        ++counts[t * 10 + at(instance.inputs[t])];
    }
    EXPECT_LT(chiSquare(counts), chiSquareLimit(80));
  }
}
