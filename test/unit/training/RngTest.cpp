#include "training/Rng.h"
#include <gtest/gtest.h>
#include <set>

using namespace hybrid::rt;

// The known answers published with the Random123 library (philox4x32-10).
TEST(Philox, GivesThePublishedNumbers) {
  std::array<uint32_t, 4> zero = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), zero);
  std::array<uint32_t, 4> ones = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}), ones);
  std::array<uint32_t, 4> pi = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}), pi);
}

TEST(Rng, DependsOnSeedStreamAndIndexOnly) {
  std::set<uint64_t> seen;
  for (uint64_t seed : {0, 1, 2})
    for (uint64_t stream : {0, 1, 2})
      for (uint64_t index : {0, 1, 2}) {
        uint64_t value = Rng(seed, stream, index).next64();
        EXPECT_EQ(value, Rng(seed, stream, index).next64());
        seen.insert(value);
      }
  EXPECT_EQ(seen.size(), 27u);
}

TEST(Rng, BelowIsUniformForAwkwardBounds) {
  Rng rng(7, 0, 0);
  constexpr int draws = 70000, bound = 7;
  int counts[bound] = {};
  for (int i = 0; i < draws; ++i)
    ++counts[rng.below(bound)];
  double chiSquare = 0;
  for (int count : counts)
    chiSquare += (count - draws / bound) * (count - draws / bound) / double(draws / bound);
  EXPECT_LT(chiSquare, 22.5); // six degrees of freedom, one in a thousand
  // A bound just above half of the range is where plain multiply-shift is most biased.
  uint64_t bound64 = (uint64_t{1} << 63) + 1;
  for (int i = 0; i < 1000; ++i)
    EXPECT_LT(rng.below(bound64), bound64);
}

TEST(Rng, UniformStaysInsideItsRange) {
  Rng rng(1, 2, 3);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    double value = rng.uniform();
    float narrow = rng.uniformFloat();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ASSERT_GE(narrow, 0);
    ASSERT_LT(narrow, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.012);
}
