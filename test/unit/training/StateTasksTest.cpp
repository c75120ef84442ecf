// Recall of many pairs, and tasks whose state is tracked beyond the lengths of training: layouts,
// distributions, sizes, and what is refused.
#include "TaskInstance.h"
#include <algorithm>
#include <set>

using namespace hybrid::rt;
using namespace hybrid::test;

namespace {

/// Tokens of an instance before its padding.
size_t sizeOf(const Drawn &instance, int32_t padding) {
  const auto end = std::find_if(instance.inputs.rbegin(), instance.inputs.rend(),
                                [&](int32_t token) { return token != padding; });
  return static_cast<size_t>(instance.inputs.rend() - end);
}

} // namespace

TEST(MultiQueryRecall, PairsThenEachKeyAtAnEvenPlace) {
  auto task = make("multi-query-recall:vocab=12,length=16,pairs=2,distractors=false");
  for (uint64_t i = 0; i < 300; ++i) {
    const Drawn instance = draw(*task, Split::Test, i);
    std::map<int32_t, int32_t> values;
    for (size_t t = 0; t < 4; t += 2) {
      EXPECT_TRUE(instance.inputs[t] >= 1 && instance.inputs[t] <= 5);
      EXPECT_TRUE(instance.inputs[t + 1] >= 6 && instance.inputs[t + 1] <= 11);
      values[instance.inputs[t]] = instance.inputs[t + 1];
    }
    EXPECT_EQ(values.size(), 2u);
    EXPECT_EQ(scored(instance), 2u);
    for (size_t t = 4; t < 16; ++t)
      if (instance.inputs[t] != 0) {
        EXPECT_EQ(t % 2, 0u);
        EXPECT_EQ(instance.targets[t], values.at(instance.inputs[t]));
      } else {
        EXPECT_EQ(instance.targets[t], ignoredTarget);
      }
  }
}

// One pair: its question stands at place j with a chance in proportion to j^(power - 1).
TEST(MultiQueryRecall, QuestionsComeSoonByThePowerLaw) {
  constexpr size_t places = 7, draws = 20000;
  auto task = make("multi-query-recall:vocab=12,length=16,pairs=1,distractors=false");
  std::vector<double> counts(places), chances(places);
  for (uint64_t i = 0; i < draws; ++i) {
    const Drawn instance = draw(*task, Split::Train, i);
    for (size_t t = 2; t < 16; ++t)
      if (instance.targets[t] != ignoredTarget)
        ++counts[(t - 2) / 2];
  }
  double total = 0;
  for (size_t j = 0; j < places; ++j)
    total += chances[j] = std::pow(static_cast<double>(j + 1), -0.99);
  for (size_t j = 0; j < places; ++j)
    EXPECT_NEAR(counts[j] / draws, chances[j] / total, 0.015) << j;
}

TEST(WordProblem, GroupsHaveTheirSizesAndAnIdentity) {
  const std::map<std::string, int64_t> sizes = {{"S3", 6},  {"S4", 24}, {"S5", 120}, {"A3", 3},
                                                {"A4", 12}, {"A5", 60}, {"Z2", 2},   {"Z7", 7}};
  for (const auto &[group, size] : sizes) {
    auto task = make("word-problem:length=12,group=" + group);
    EXPECT_EQ(task->vocabulary(), size + 7) << group;
    const Drawn instance = draw(*task, Split::Test, 3);
    EXPECT_EQ(instance.inputs[0], size + 1);
    EXPECT_EQ(instance.targets[0], size + 1);
    for (size_t t = 1; t < 13; ++t) { // times the identity nothing changes
      EXPECT_LT(instance.targets[t], size);
      if (instance.inputs[t] == 0 && t > 1)
        EXPECT_EQ(instance.targets[t], instance.targets[t - 1]);
    }
  }
}

TEST(WordProblem, TrainingIsShorterAndSwapsExchangeTwoPoints) {
  auto task = make("word-problem:group=S4,length=20,train_length=6,swaps=true");
  std::set<int32_t> elements;
  for (uint64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(scored(draw(*task, Split::Train, i)), 7u);
    const Drawn instance = draw(*task, Split::Test, i);
    EXPECT_EQ(scored(instance), 21u);
    elements.insert(instance.inputs.begin() + 1, instance.inputs.end());
  }
  EXPECT_EQ(elements.size(), 6u); // 4 · 3 / 2
}

TEST(Parity, OneAnswerAtTheLastBitAndLongerTests) {
  auto task = make("parity:length=64,train_longest=20,test_shortest=30");
  size_t shortest = 64, longest = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    const Drawn train = draw(*task, Split::Train, i), test = draw(*task, Split::Test, i);
    EXPECT_EQ(scored(train), 1u);
    EXPECT_LE(sizeOf(train, 0), 20u);
    EXPECT_EQ(scored(test), 1u);
    shortest = std::min(shortest, sizeOf(test, 0));
    longest = std::max(longest, sizeOf(test, 0));
  }
  EXPECT_EQ(shortest, 30u);
  EXPECT_EQ(longest, 64u);
}

TEST(ModularArithmetic, AnswersAreEven) {
  for (const char *brackets : {"false", "true"}) {
    auto task = make(std::string("modular-arithmetic:length=60,brackets=") + brackets);
    std::map<int32_t, int> answers;
    for (uint64_t i = 0; i < 2000; ++i) {
      const Drawn instance = draw(*task, Split::Test, i);
      EXPECT_EQ(scored(instance), 1u);
      for (int32_t target : instance.targets)
        if (target != ignoredTarget)
          ++answers[target];
    }
    EXPECT_EQ(answers.size(), 5u) << brackets;
  }
}

TEST(StateTasks, ImpossibleSettingsAreRefused) {
  EXPECT_NE(refusal("multi-query-recall:length=16,pairs=5").find("at least 4 times pairs=5"),
            std::string::npos);
  EXPECT_NE(refusal("multi-query-recall:vocab=8,length=64,pairs=4").find("has 3 keys"),
            std::string::npos);
  EXPECT_NE(refusal("word-problem:group=S9").find("S3"), std::string::npos);
  EXPECT_NE(refusal("word-problem:group=A4,swaps=true").find("exchanges two points"),
            std::string::npos);
  EXPECT_NE(refusal("word-problem:length=8,train_length=9").find("train_length=9"),
            std::string::npos);
  EXPECT_NE(refusal("parity:length=30,train_longest=31").find("must rise"), std::string::npos);
}
