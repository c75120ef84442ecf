//===- ReuseDistancesTest.cpp - how far back a sector was last read ---------===//
#include "test/cuda/ptx/tests/MachineTest.h"
#include <bit>

namespace hybrid::ptx::test {
namespace {

constexpr size_t never = reachCount - 1;

TEST(ReuseDistances, CountsDifferentSectorsBetween) {
  ReuseDistances distances;
  distances.begin(0, 1, 0);
  for (uint64_t sector : {7, 8, 9, 8})
    distances.read(sector);
  EXPECT_EQ(distances.read(8), 0u); // nothing between
  EXPECT_EQ(distances.read(9), 1u); // 8, though it was read twice
  EXPECT_EQ(distances.read(7), 2u); // 8 and 9: 2 to 3
  EXPECT_EQ(distances.read(6), never);
  distances.clear();
  EXPECT_EQ(distances.read(6), never);
}

TEST(ReuseDistances, OtherWarpsReadBesideBetweenBarriers) {
  ReuseDistances distances;
  distances.begin(2, 8, 0);
  distances.read(1), distances.read(2);
  EXPECT_EQ(distances.read(1), 4u); // one sector between, and as many of each of 8 warps
  distances.begin(3, 8, 0);
  EXPECT_EQ(distances.read(1), 0u); // another warp's: as it is
  distances.begin(3, 8, 1);
  EXPECT_EQ(distances.read(2), 1u);
}

TEST(ReuseDistances, AgreeWithAList) {
  // More sectors than the largest cache has, and more reads than times are kept.
  ReuseDistances distances;
  distances.begin(0, 1, 0);
  std::vector<uint64_t> latest; // the last one at the end
  uint64_t state = 1;
  for (int i = 0; i < 80000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t random = state >> 33, sector = random % (random >> 20 & 1 ? 300 : 12000);
    const auto found = std::find(latest.rbegin(), latest.rend(), sector);
    size_t expected = never;
    if (found != latest.rend()) {
      const auto between = static_cast<uint64_t>(found - latest.rbegin());
      expected = std::min<size_t>(static_cast<size_t>(std::bit_width(between)), never);
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

TEST_F(Reuse, OfWarpsAndIntervals) {
  // Two warps read a sector of 32 lines each, again at once, and again behind a barrier.
  machine.options.reuse = true;
  Buffer<float> in(64 * 32, 1);
  pass(in);
  launch.threads = 64;
  run(kernel(1, std::string(linesOfLanes) + "ld.global.f32 %f1, [%rd11+4];\nbar.sync 0;\n"
                                            "ld.global.f32 %f2, [%rd11];"));
  EXPECT_TRUE(findings.empty()) << described();
  Reaches expected{};
  expected[never] = 64;
  expected[6] = 64 + 64; // 31 others of a warp, twice; all 63 others since the barrier
  EXPECT_EQ(counts.sectorReaches, expected);
  EXPECT_EQ(counts.lineReaches, expected);
}

TEST_F(Reuse, OfALineAsOfItsFarthestSector) {
  machine.options.reuse = true;
  Buffer<float> in(32 * 32, 1);
  pass(in);
  run(kernel(1, std::string(linesOfLanes) + "mul.wide.u32 %rd12, %r0, 16;\n"
                                            "add.s64 %rd12, %rd0, %rd12;\n"
                                            "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd12];"));
  // Four lines again, whole now: of each three sectors for the first time. The fourth of line n has
  // 31 - n sectors of the first load behind it, and 4 n of the second.
  EXPECT_EQ(counts.sectorReaches[never], 32u + 12);
  EXPECT_EQ(counts.sectorReaches[5], 1u);
  EXPECT_EQ(counts.sectorReaches[6], 3u);
  EXPECT_EQ(counts.lineReaches[never], 32u + 4);
}

} // namespace
} // namespace hybrid::ptx::test
