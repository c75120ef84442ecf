//===- ReuseDistancesTest.cpp - how far back a sector was last read ---------===//
#include "test/cuda/ptx/tests/MachineTest.h"

namespace hybrid::ptx::test {
namespace {

constexpr size_t never = reachCount - 1;

TEST(ReuseDistances, KindsOfDistances) {
  for (uint64_t distance = 0; distance < 8; ++distance)
    EXPECT_EQ(reachOf(distance), distance);
  EXPECT_EQ(reachOf(9), 8u);
  EXPECT_EQ(reachOf(10), 9u);
  EXPECT_EQ(reachOf(16), 12u);
  EXPECT_EQ(reachOf(7168), never - 1);
  EXPECT_EQ(reachOf(8191), never - 1);
  EXPECT_EQ(reachOf(8192), never);
  EXPECT_EQ(reachOf(UINT64_MAX), never);
}

TEST(ReuseDistances, CountsDifferentSectorsBetween) {
  ReuseDistances distances;
  for (uint64_t sector : {7, 8, 9, 8})
    distances.read(sector);
  EXPECT_EQ(distances.read(8), 0u); // nothing between
  EXPECT_EQ(distances.read(9), 1u); // 8, though it was read twice
  EXPECT_EQ(distances.read(7), 2u); // 8 and 9
  EXPECT_EQ(distances.read(6), never);
  distances.clear();
  EXPECT_EQ(distances.read(6), never);
}

TEST(ReuseDistances, AgreeWithAList) {
  // More sectors than the largest cache has, and more reads than times are kept.
  ReuseDistances distances;
  std::vector<uint64_t> latest; // the last one at the end
  uint64_t state = 1;
  for (int i = 0; i < 80000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t random = state >> 33, sector = random % (random >> 20 & 1 ? 300 : 12000);
    const auto found = std::find(latest.rbegin(), latest.rend(), sector);
    size_t expected = never;
    if (found != latest.rend()) {
      expected = reachOf(static_cast<uint64_t>(found - latest.rbegin()));
      latest.erase(std::next(found).base());
    }
    latest.push_back(sector);
    ASSERT_EQ(distances.read(sector), expected) << i;
  }
  EXPECT_GT(latest.size(), size_t{1} << reachBits);
}

class Reuse : public MachineTest {
protected:
  static constexpr const char *linesOfLanes =
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 128;\nadd.s64 %rd11, %rd0, %rd10;\n"
      "ld.global.f32 %f0, [%rd11];\n";
};

TEST_F(Reuse, OfWarpsThatTakeTurns) {
  // Two warps read a sector of 32 lines each, again at once, and again behind a barrier.
  machine.options.reuse = true;
  Buffer<float> in(64 * 32, 1);
  pass(in);
  launch.threads = 64;
  const std::string text =
      kernel(1, std::string(linesOfLanes) + "ld.global.f32 %f1, [%rd11+4];\nbar.sync 0;\n"
                                            "ld.global.f32 %f2, [%rd11];");
  run(text);
  EXPECT_TRUE(findings.empty()) << described();
  Reaches expected{};
  expected[never] = 64;
  expected[reachOf(31)] = 64; // the others of a warp, that goes on to the barrier
  expected[reachOf(63)] = 64;
  EXPECT_EQ(counts.sectorReaches, expected);
  EXPECT_EQ(counts.lineReaches, expected);
  // An instruction each: between a warp's first load and its second is the other warp's first.
  machine.options.turn = 1;
  run(text);
  EXPECT_TRUE(findings.empty()) << described();
  expected[reachOf(31)] = 0, expected[reachOf(63)] = 128;
  EXPECT_EQ(counts.sectorReaches, expected);
}

TEST_F(Reuse, OfALineAsOfItsFarthestSector) {
  machine.options.reuse = true;
  Buffer<float> in(32 * 32, 1);
  pass(in);
  run(kernel(1, std::string(linesOfLanes) + "mul.wide.u32 %rd12, %r0, 16;\n"
                                            "add.s64 %rd12, %rd0, %rd12;\n"
                                            "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd12];"));
  // Four lines again, whole now: of each three sectors for the first time. The first of line n has
  // 31 - n sectors of the first load behind it, and 4 n of the second.
  EXPECT_EQ(counts.sectorReaches[never], 32u + 12);
  for (uint64_t distance : {31, 30 + 4, 29 + 8, 28 + 12})
    EXPECT_GE(counts.sectorReaches[reachOf(distance)], 1u) << distance;
  EXPECT_EQ(counts.lineReaches[never], 32u + 4);
}

} // namespace
} // namespace hybrid::ptx::test
