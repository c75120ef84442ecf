// The two forms of induction heads: where triggers stand, and that nothing else tells the answer.
#include "TaskInstance.h"
#include <algorithm>

using namespace hybrid::rt;
using namespace hybrid::test;

TEST(InductionHeads, TwoTriggersAndOneAnswer) {
  for (const auto &[spec, vocab, length] : {std::tuple{"induction-heads", 16, 256},
                                            {"induction-heads:length=64", 16, 64},
                                            {"induction-heads:length=65536", 16, 65536},
                                            {"induction-heads:vocab=3,length=4", 3, 4}}) {
    auto task = make(spec);
    EXPECT_EQ(task->vocabulary(), vocab);
    EXPECT_EQ(task->positions(), length);
    for (Split split : {Split::Train, Split::Test})
      for (uint64_t i = 0; i < (length > 1000 ? 3 : 200); ++i) {
        Drawn instance = draw(*task, split, i);
        EXPECT_EQ(std::count(instance.inputs.begin(), instance.inputs.end(), vocab - 1), 2);
        EXPECT_EQ(instance.inputs.back(), vocab - 1);
        EXPECT_EQ(scored(instance), 1u);
        auto first = std::find(instance.inputs.begin(), instance.inputs.end(), vocab - 1);
        EXPECT_LE(first - instance.inputs.begin(), length - 4);
        EXPECT_EQ(instance.targets.back(), *(first + 1));
      }
  }
}

TEST(InductionHeads, PlacesContentsAndAnswersAreUniform) {
  auto task = make("induction-heads:length=20");
  std::vector<double> places(17), contents(15), answers(15);
  for (uint64_t i = 0; i < 8000; ++i) {
    Drawn instance = draw(*task, Split::Train, i);
    auto first = std::find(instance.inputs.begin(), instance.inputs.end(), 15);
    ++places[static_cast<size_t>(first - instance.inputs.begin())];
    ++answers[static_cast<size_t>(instance.targets.back())];
    for (int32_t token : instance.inputs)
      if (token < 15)
        ++contents[static_cast<size_t>(token)];
  }
  EXPECT_LT(chiSquare(places), chiSquareLimit(17));
  EXPECT_LT(chiSquare(contents), chiSquareLimit(15));
  EXPECT_LT(chiSquare(answers), chiSquareLimit(15));
}

TEST(InductionHeads, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("induction-heads:length=3").find("from 4"), std::string::npos);
  EXPECT_NE(refusal("induction-heads:vocab=1").find("from 2"), std::string::npos);
  EXPECT_EQ(refusal("induction-heads:length=1048576"), "accepted");
  EXPECT_NE(refusal("induction-head").find("did you mean 'induction-heads'"), std::string::npos);
}

TEST(SafariInduction, TheTriggerOverwritesATokenAndIsRepeated) {
  auto task = make("safari-induction");
  EXPECT_EQ(task->vocabulary(), 20);
  EXPECT_EQ(task->positions(), 31);
  std::vector<double> places(28), contents(18);
  for (uint64_t i = 0; i < 6000; ++i) {
    Drawn instance = draw(*task, Split::Test, i);
    EXPECT_EQ(std::count(instance.inputs.begin(), instance.inputs.end(), 19), 2);
    EXPECT_EQ(std::count(instance.inputs.begin(), instance.inputs.end(), 0), 0);
    EXPECT_EQ(scored(instance), 1u);
    auto first = std::find(instance.inputs.begin(), instance.inputs.end(), 19);
    ++places.at(static_cast<size_t>(first - instance.inputs.begin()));
    for (int32_t token : instance.inputs)
      if (token < 19)
        ++contents[static_cast<size_t>(token - 1)];
  }
  EXPECT_LT(chiSquare(places), chiSquareLimit(28));
  EXPECT_LT(chiSquare(contents), chiSquareLimit(18));
  Drawn train = draw(*task, Split::Train, 0);
  EXPECT_EQ(scored(train), 31u);
  EXPECT_TRUE(std::equal(train.inputs.begin() + 1, train.inputs.end(), train.targets.begin()));
  EXPECT_EQ(scored(draw(*make("safari-induction:train_targets=answer"), Split::Train, 0)), 1u);
  EXPECT_NE(refusal("safari-induction:vocab=2").find("from 3"), std::string::npos);
  EXPECT_NE(refusal("safari-induction:length=2").find("from 3"), std::string::npos);
}
