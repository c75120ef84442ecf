// Compression: random content, one compression token, and all of it asked.
#include "FakeModel.h"
#include "TaskInstance.h"
#include "training/Evaluate.h"

using namespace hybrid::rt;
using namespace hybrid::test;

TEST(Compression, EverythingIsAskedAndTheLastTokenIsTheCompressionToken) {
  for (const auto &[spec, vocab, length] : {std::tuple{"compression", 16, 32},
                                            {"compression:vocab=128,length=256", 128, 256},
                                            {"compression:vocab=2,length=2", 2, 2}}) {
    auto task = make(spec);
    EXPECT_EQ(task->vocabulary(), vocab);
    EXPECT_EQ(task->positions(), length);
    expectWellFormed(*task);
    for (Split split : {Split::Train, Split::Test})
      for (uint64_t i = 0; i < 100; ++i) {
        Drawn instance = draw(*task, split, i);
        EXPECT_EQ(instance.inputs, instance.targets);
        EXPECT_EQ(instance.inputs.back(), vocab - 1);
        for (size_t t = 0; t + 1 < instance.inputs.size(); ++t)
          EXPECT_LT(instance.inputs[t], vocab - 1);
      }
  }
}

TEST(Compression, ContentsAreUniformAndFollowNothing) {
  auto task = make("compression:vocab=6");
  std::vector<double> counts(5), pairs(25);
  for (uint64_t i = 0; i < 2000; ++i) {
    Drawn instance = draw(*task, Split::Train, i);
    for (size_t t = 0; t + 1 < 31; t += 2) {
      auto a = static_cast<size_t>(instance.inputs[t]),
           b = static_cast<size_t>(instance.inputs[t + 1]);
      ++counts[a];
      ++pairs[a * 5 + b];
    }
  }
  EXPECT_LT(chiSquare(counts), 18.5); // four degrees of freedom, one in a thousand
  EXPECT_LT(chiSquare(pairs), 51.2);  // twenty-four
}

TEST(Compression, SplitsAndSeedsDiffer) {
  auto task = make("compression");
  Drawn first = draw(*task, Split::Train, 0);
  EXPECT_NE(first.inputs, draw(*task, Split::Test, 0).inputs);
  EXPECT_NE(first.inputs, draw(*task, Split::Train, 0, 1).inputs);
}

// Padding behind the compression token would stand where a model's last position is.
TEST(Compression, TheModelMustHaveTheTasksLength) {
  auto source = makeTaskSource(make("compression:vocab=5,length=8"), Convention::Paper, {});
  EXPECT_TRUE(checkFits(FakeModel(1, 8, 5), *source));
  auto longer = checkFits(FakeModel(1, 9, 5), *source);
  ASSERT_FALSE(longer);
  EXPECT_NE(longer.error().message.find("compile it with --length 8"), std::string::npos);
}

TEST(Compression, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("compression:length=1").find("from 2"), std::string::npos);
  EXPECT_NE(refusal("compression:vocab=1").find("from 2"), std::string::npos);
  EXPECT_NE(refusal("compression:noise=1").find("no parameter 'noise'"), std::string::npos);
}
