// Selective copying: the layout, the answers, and the gaps between contents.
#include "TaskInstance.h"
#include <algorithm>
#include <cmath>

using namespace hybrid::rt;
using namespace hybrid::test;

TEST(SelectiveCopying, TheAnswersAreTheContentsInTheirOrder) {
  struct Case {
    const char *spec;
    int32_t vocab;
    size_t length, count;
  };
  for (const Case &c : {Case{"selective-copying", 16, 256, 16},
                        {"selective-copying:tokens_to_copy=96", 16, 256, 96},
                        {"selective-copying:vocab=6,length=12,tokens_to_copy=3", 6, 12, 3},
                        {"selective-copying:vocab=3,length=4,tokens_to_copy=1", 3, 4, 1},
                        {"selective-copying:vocab=128,length=1024", 128, 1024, 16}}) {
    auto task = make(c.spec, Convention::MadLab);
    EXPECT_EQ(task->vocabulary(), c.vocab);
    EXPECT_EQ(task->positions(), static_cast<int64_t>(c.length));
    expectWellFormed(*task);
    int32_t blank = c.vocab - 2, copy = c.vocab - 1;
    for (Split split : {Split::Train, Split::Test})
      for (uint64_t i = 0; i < 200; ++i) {
        Drawn instance = draw(*task, split, i);
        // Read what is there, then what is asked.
        std::vector<int32_t> content;
        size_t blanks = 0, marker = c.length - c.count - 1;
        for (size_t t = 0; t < marker; ++t) {
          blanks += instance.inputs[t] == blank;
          if (instance.inputs[t] != blank)
            content.push_back(instance.inputs[t]);
          EXPECT_EQ(instance.targets[t], ignoredTarget);
        }
        EXPECT_EQ(content.size(), c.count);
        EXPECT_TRUE(std::all_of(content.begin(), content.end(),
                                [&](int32_t token) { return token < blank; }));
        EXPECT_EQ(blanks, c.length - 2 * c.count - 1);
        EXPECT_LT(instance.inputs[marker - 1], blank);
        EXPECT_EQ(instance.inputs[marker], copy);
        EXPECT_EQ(instance.targets[marker], ignoredTarget);
        for (size_t j = 0; j < c.count; ++j) {
          EXPECT_EQ(instance.inputs[marker + 1 + j], blank);
          EXPECT_EQ(instance.targets[marker + 1 + j], content[j]);
        }
      }
  }
}

TEST(SelectiveCopying, GapsAreBinomialAndContentsUniform) {
  auto task = make("selective-copying", Convention::MadLab);
  constexpr int instances = 4000;
  std::vector<double> gapSums(16), contents(14), neighbours(14 * 14);
  double squares = 0;
  for (int i = 0; i < instances; ++i) {
    Drawn instance = draw(*task, Split::Train, static_cast<uint64_t>(i));
    size_t gap = 0, number = 0;
    for (size_t j = 0; j < 16; j += 2)
      ++neighbours[static_cast<size_t>(instance.targets[240 + j] * 14 + instance.targets[241 + j])];
    for (size_t t = 0; t < 256 - 17; ++t) {
      if (instance.inputs[t] == 14) {
        ++gap;
        continue;
      }
      ++contents[static_cast<size_t>(instance.inputs[t])];
      gapSums[number++] += static_cast<double>(gap);
      squares += static_cast<double>(gap * gap);
      gap = 0;
    }
  }
  // 223 blanks over 16 gaps: mean 13.94, variance 223 / 16 * 15 / 16.
  double mean = 223.0 / 16, variance = mean * 15 / 16;
  for (double sum : gapSums)
    EXPECT_NEAR(sum / instances, mean, 4 * std::sqrt(variance / instances));
  EXPECT_NEAR(squares / instances / 16 - mean * mean, variance, 0.4);
  EXPECT_LT(chiSquare(contents), 34.5);  // thirteen degrees of freedom, one in a thousand
  EXPECT_LT(chiSquare(neighbours), 262); // 195
}

// The paper's layout: contents, then insert tokens, at any places, and the answers at the latter.
TEST(SelectiveCopying, InsertTokensMayStandBetweenBlanks) {
  auto task = make("selective-copying:vocab=8,length=20,tokens_to_copy=4");
  std::vector<double> places(20), contents(6);
  for (uint64_t i = 0; i < 5000; ++i) {
    Drawn instance = draw(*task, Split::Train, i);
    std::vector<int32_t> copied, asked;
    for (size_t t = 0; t < 20; ++t) {
      int32_t token = instance.inputs[t];
      EXPECT_EQ(instance.targets[t] != ignoredTarget, token == 7);
      if (token == 7)
        asked.push_back(instance.targets[t]);
      if (token < 6) {
        EXPECT_TRUE(asked.empty());
        copied.push_back(token);
        ++contents[static_cast<size_t>(token)];
      }
      places[t] += token != 6;
    }
    EXPECT_EQ(copied.size(), 4u);
    EXPECT_EQ(copied, asked);
  }
  EXPECT_LT(chiSquare(places), chiSquareLimit(20));
  EXPECT_LT(chiSquare(contents), chiSquareLimit(6));
  EXPECT_NE(refusal("selective-copying:layout=paper,length=32").find("need length >= 33"),
            std::string::npos);
}

TEST(SelectiveCopying, SplitsSeedsAndInstancesDiffer) {
  auto task = make("selective-copying:length=64,tokens_to_copy=8");
  Drawn first = draw(*task, Split::Train, 0);
  EXPECT_NE(first.inputs, draw(*task, Split::Train, 1).inputs);
  EXPECT_NE(first.inputs, draw(*task, Split::Test, 0).inputs);
  EXPECT_NE(first.inputs, draw(*task, Split::Train, 0, 1).inputs);
  EXPECT_EQ(first.inputs, draw(*make(task->spec(), Convention::MadLab), Split::Train, 0).inputs);
}

TEST(SelectiveCopying, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("selective-copying:layout=mad-lab,length=33").find("need length >= 34"),
            std::string::npos);
  EXPECT_EQ(refusal("selective-copying:layout=mad-lab,length=34"), "accepted");
  EXPECT_EQ(refusal("selective-copying:length=33"), "accepted");
  EXPECT_NE(refusal("selective-copying:vocab=2").find("from 3"), std::string::npos);
  EXPECT_NE(refusal("selective-copying:tokens_to_copy=0").find("from 1"), std::string::npos);
  EXPECT_NE(refusal("selective-copying:num_tokens_to_copy=4").find("did you mean 'tokens_to_copy'"),
            std::string::npos);
  EXPECT_NE(refusal("selective-copyng").find("did you mean 'selective-copying'"),
            std::string::npos);
}
