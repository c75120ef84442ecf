//===- GenerateTest.cpp - what text generation is made of ---------------------===//
#include "training/GeneratedText.h"
#include "training/Sampler.h"
#include <array>
#include <cmath>
#include <gtest/gtest.h>

using namespace hybrid::rt;

TEST(GeneratedText, EndsBeforeAStopText) {
  GeneratedText text({"\n\n", "END"});
  EXPECT_EQ(text.add("one E"), "one ") << "an E may begin END";
  EXPECT_EQ(text.add("x\n"), "Ex");
  EXPECT_EQ(text.add("EN"), "\n");
  EXPECT_FALSE(text.isStopped());
  EXPECT_EQ(text.add("D more"), "");
  EXPECT_TRUE(text.isStopped());
  EXPECT_EQ(text.add("never"), "");
  EXPECT_EQ(text.finish(), "");
}

TEST(GeneratedText, TheFirstOfSeveralStopTextsCounts) {
  GeneratedText text({"cd", "b"});
  EXPECT_EQ(text.add("abcd"), "a");
}

TEST(GeneratedText, GivesOutWhatItHeldBack) {
  GeneratedText text({"abc", ""});
  EXPECT_EQ(text.add("xab"), "x");
  EXPECT_EQ(text.finish(), "ab");
  GeneratedText free({});
  EXPECT_EQ(free.add("all"), "all");
}

TEST(Sampler, RepetitionMakesLessLikelyOnce) {
  std::array<double, 4> logits{2, -2, 1, 1};
  penaliseRepetition(logits, std::array<int32_t, 4>{0, 1, 0, 9}, 2);
  EXPECT_EQ(logits, (std::array<double, 4>{1, -4, 1, 1}));
}

TEST(Sampler, LogProbabilitiesSumToOne) {
  const std::array<double, 3> logits{700, 701, -HUGE_VAL};
  double sum = 0;
  for (int32_t token = 0; token < 3; ++token)
    sum += std::exp(logProbability(logits, token));
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NEAR(logProbability(logits, 1) - logProbability(logits, 0), 1, 1e-12);
}

TEST(Sampler, LeavesOutWhatIsFarFromTheLikeliest) {
  // Probabilities 1, e^-1, e^-3 of the likeliest's.
  for (uint64_t draw = 0; draw < 200; ++draw) {
    std::array<double, 3> logits{3, 2, 0};
    Rng rng(draw, 0, 0);
    EXPECT_NE(sampleToken(logits, {.minP = 0.1}, rng), 2);
  }
}
