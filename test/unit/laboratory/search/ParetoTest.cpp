//===- ParetoTest.cpp - non-dominated, and complete ----------------------------===//
#include "laboratory/search/Pareto.h"
#include "laboratory/search/Points.h"
#include <gtest/gtest.h>
#include <random>

namespace hybrid::rt::lab {
namespace {

Measured point(double score, double flops, double state) { return {{score}, flops, state}; }

/// Few values, so that many points are equal in some respect.
std::vector<Measured> draw(std::mt19937 &rng, size_t rungs) {
  std::vector<Measured> points(1 + rng() % 40);
  for (Measured &each : points) {
    each.scores.resize(rungs);
    size_t reached = rng() % (rungs + 1);
    for (size_t r = 0; r < reached; ++r)
      each.scores[r] = static_cast<double>(rng() % 5) / 4;
    each.flopsPerToken = static_cast<double>(rng() % 5);
    each.stateElements = static_cast<double>(rng() % 3);
  }
  return points;
}

TEST(Pareto, KeepsWhatIsBestInSomeRespect) {
  std::vector<Measured> points{point(0.9, 10, 10), point(0.8, 5, 10),  point(0.8, 5, 12),
                               point(0.1, 20, 1),  point(0.5, 20, 20), point(0.9, 10, 10)};
  // The last one equals the first: neither is better.
  EXPECT_EQ(paretoFront(points), (std::vector<size_t>{0, 1, 3, 5}));
  EXPECT_EQ(paretoRanks(points), (std::vector<size_t>{0, 0, 1, 0, 2, 0}));
}

TEST(Pareto, NobodyIsOnTheFrontByAStateThatIsNotKnown) {
  const double unknown = PointCost().comparedState();
  std::vector<Measured> points{point(0.9, 10, 100), point(0.06, 20, unknown),
                               point(0.9, 10, unknown)};
  EXPECT_EQ(paretoFront(points), std::vector<size_t>{0});
}

TEST(Pareto, ComparesScoresOfTheLongestCommonRung) {
  Measured finished{{0.2, 0.9}, 10, 1}, early{{0.3, std::nullopt}, 10, 1},
      skipped{{std::nullopt, 0.8}, 10, 1}, never{{std::nullopt, std::nullopt}, 0, 0};
  EXPECT_TRUE(dominates(early, finished)) << "both were trained for the first rung";
  EXPECT_TRUE(dominates(finished, skipped));
  EXPECT_FALSE(dominates(early, skipped)) << "no rung in common";
  EXPECT_FALSE(dominates(never, finished));
  std::vector<Measured> points{finished, never};
  EXPECT_EQ(paretoFront(points), std::vector<size_t>{0});
}

TEST(Pareto, FrontIsNotDominatedAndComplete) {
  std::mt19937 rng(7);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Measured> points = draw(rng, 1);
    std::vector<size_t> front = paretoFront(points);
    std::vector<bool> isFront(points.size());
    for (size_t i : front)
      isFront[i] = true;
    for (size_t i = 0; i < points.size(); ++i) {
      bool dominatedByFront = false;
      for (size_t member : front)
        dominatedByFront |= dominates(points[member], points[i]);
      if (points[i].scores[0])
        EXPECT_NE(isFront[i], dominatedByFront) << "of " << points.size() << ", point " << i;
      else
        EXPECT_FALSE(isFront[i]);
    }
  }
}

TEST(Pareto, RanksPeelFrontAfterFront) {
  std::mt19937 rng(8);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Measured> points = draw(rng, 1);
    std::vector<size_t> ranks = paretoRanks(points), front = paretoFront(points);
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(ranks[i] == 0, std::find(front.begin(), front.end(), i) != front.end());
      if (!points[i].scores[0])
        continue;
      bool nextBetter = ranks[i] == 0;
      for (size_t j = 0; j < points.size(); ++j) {
        if (dominates(points[j], points[i])) {
          EXPECT_LT(ranks[j], ranks[i]);
          nextBetter |= ranks[j] + 1 == ranks[i];
        }
      }
      EXPECT_TRUE(nextBetter);
    }
  }
}

TEST(Pareto, DominatesNeitherItselfNorBack) {
  std::mt19937 rng(9);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Measured> points = draw(rng, 3);
    for (const Measured &a : points) {
      EXPECT_FALSE(dominates(a, a));
      for (const Measured &b : points)
        EXPECT_FALSE(dominates(a, b) && dominates(b, a));
    }
    paretoRanks(points); // comes to an end whatever was trained for how long
  }
}

} // namespace
} // namespace hybrid::rt::lab
