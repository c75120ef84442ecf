//===- HalvingTest.cpp - who is promoted, and what it costs ---------------------===//
#include "laboratory/search/Halving.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace hybrid::rt::lab {
namespace {

/// Costs in whole numbers, so that sums are exact.
std::vector<Candidate> draw(std::mt19937 &rng, size_t count, const HalvingOptions &options) {
  std::vector<Candidate> candidates(count);
  for (Candidate &each : candidates) {
    double unit = 1 + static_cast<double>(rng() % 20);
    for (size_t r = 0; r < options.rungs; ++r)
      each.costs.push_back(unit *
                           std::pow(static_cast<double>(options.eta), static_cast<double>(r)));
    each.flopsPerToken = unit;
    each.stateElements = static_cast<double>(rng() % 4);
  }
  return candidates;
}

HalvingOptions drawOptions(std::mt19937 &rng) {
  HalvingOptions options;
  options.rungs = 1 + rng() % 4;
  options.eta = 2 + rng() % 3;
  options.promotion = rng() % 2 ? Promotion::Front : Promotion::Score;
  options.finish = rng() % 2;
  return options;
}

/// A score that is better the longer the training, with noise; some runs fail.
double scoreOf(size_t candidate, size_t rung) {
  std::mt19937 rng(static_cast<uint32_t>(candidate * 131 + rung));
  return static_cast<double>(rng() % 8) / 8 + static_cast<double>(rung);
}

EvaluateRung exact(const std::vector<Candidate> &candidates) {
  return [&candidates](const Rung &rung) -> Result<std::vector<Evaluation>> {
    std::vector<Evaluation> results;
    for (size_t i : rung.candidates) {
      bool failed = i % 11 == 10;
      results.push_back({failed ? std::nullopt : std::optional(scoreOf(i, rung.rung)),
                         candidates[i].costs[rung.rung]});
    }
    return results;
  };
}

TEST(Halving, LengthsAndSizes) {
  HalvingOptions options;
  EXPECT_DOUBLE_EQ(rungLength(0, options), 1.0 / 9);
  EXPECT_DOUBLE_EQ(rungLength(2, options), 1);
  EXPECT_EQ(rungSizes(20, options), (std::vector<size_t>{20, 6, 2}));
  EXPECT_EQ(rungSizes(2, options), (std::vector<size_t>{2, 1, 1}));
}

TEST(Halving, TakesTheBestToTheEnd) {
  HalvingOptions options;
  options.finish = false;
  std::vector<Candidate> candidates(9, {{1, 3, 9}, 1, 1});
  auto outcome =
      halve(candidates, options, [](const Rung &rung) -> Result<std::vector<Evaluation>> {
        std::vector<Evaluation> results;
        for (size_t i : rung.candidates)
          results.push_back({static_cast<double>(i), 1});
        return results;
      });
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->rungs.size(), 3u);
  EXPECT_EQ(outcome->rungs[0].promoted, (std::vector<size_t>{8, 7, 6}));
  EXPECT_EQ(outcome->rungs[1].promoted, std::vector<size_t>{8});
  EXPECT_EQ(outcome->rungs[2].candidates, std::vector<size_t>{8});
  EXPECT_EQ(outcome->front, std::vector<size_t>{8});
  EXPECT_EQ(outcome->spent, 13);
}

TEST(Halving, TiesGoToTheCheaper) {
  HalvingOptions options;
  options.rungs = 2;
  options.eta = 4;
  options.finish = false;
  std::vector<Candidate> candidates{{{1, 4}, 5, 1}, {{1, 4}, 4, 2}, {{1, 4}, 4, 1}, {{1, 4}, 4, 1}};
  auto outcome =
      halve(candidates, options, [](const Rung &rung) -> Result<std::vector<Evaluation>> {
        return std::vector<Evaluation>(rung.candidates.size(), {0.5, 1});
      });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->rungs[0].promoted, std::vector<size_t>{2});
}

TEST(Halving, PromotesFrontsWhenAsked) {
  HalvingOptions options;
  options.rungs = 2;
  options.eta = 2;
  options.finish = false;
  options.promotion = Promotion::Front;
  // The third scores least but has no state; the second is beaten by the first in all respects.
  std::vector<Candidate> candidates{{{1, 2}, 1, 9}, {{1, 2}, 2, 9}, {{1, 2}, 2, 0}, {{1, 2}, 3, 9}};
  auto outcome =
      halve(candidates, options, [](const Rung &rung) -> Result<std::vector<Evaluation>> {
        std::vector<Evaluation> results;
        for (size_t i : rung.candidates)
          results.push_back({1 - 0.1 * static_cast<double>(i), 1});
        return results;
      });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->rungs[0].promoted, (std::vector<size_t>{0, 2}));
}

TEST(Halving, FinishesTheFront) {
  HalvingOptions options;
  options.rungs = 2;
  options.eta = 2;
  std::vector<Candidate> candidates{
      {{1, 2}, 9, 9}, {{1, 2}, 8, 8}, {{1, 2}, 1, 1}, {{1, 2}, 10, 10}};
  auto score = [](const Rung &rung) -> Result<std::vector<Evaluation>> {
    std::vector<Evaluation> results;
    for (size_t i : rung.candidates)
      results.push_back({std::vector<double>{0.9, 0.8, 0.1, 0.05}[i], rung.rung ? 2.0 : 1.0});
    return results;
  };
  auto outcome = halve(candidates, options, score);
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->rungs.size(), 3u);
  EXPECT_TRUE(outcome->rungs[2].finishing);
  EXPECT_EQ(outcome->rungs[2].candidates, std::vector<size_t>{2});
  EXPECT_EQ(outcome->front, (std::vector<size_t>{0, 1, 2}));
  options.budget = 9; // 4 for the first rung, 4 for the second: nothing is left for the third point
  outcome = halve(candidates, options, score);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->rungs.size(), 2u);
  EXPECT_EQ(outcome->front, (std::vector<size_t>{0, 1, 2}));
}

TEST(Halving, SaysWhenTheBudgetIsTooSmall) {
  HalvingOptions options;
  options.budget = 12;
  std::vector<Candidate> candidates{{{1, 3, 9}, 1, 1}};
  auto outcome = halve(candidates, options, exact(candidates));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message,
            "the budget of 12 is too small for one point: the first takes 13 to the end");
}

TEST(Halving, PassesAnErrorOn) {
  std::vector<Candidate> candidates{{{1, 3, 9}, 1, 1}};
  auto outcome = halve(candidates, {}, [](const Rung &) -> Result<std::vector<Evaluation>> {
    return Error{"stopped"};
  });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "stopped");
}

TEST(Halving, NeverExceedsItsBudgetAndUsesIt) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 400; ++trial) {
    HalvingOptions options = drawOptions(rng);
    std::vector<Candidate> candidates = draw(rng, 1 + rng() % 60, options);
    options.budget = static_cast<double>(rng() % 8000);
    size_t points = affordable(candidates, options);
    // Every other trial some runs are solved early and cost less than foreseen.
    EvaluateRung full = exact(candidates);
    EvaluateRung early = [&](const Rung &rung) {
      auto results = full(rung);
      for (size_t i = 0; trial % 2 && i < results->size(); i += 2)
        (*results)[i].cost = std::floor((*results)[i].cost / 2);
      return results;
    };
    auto outcome = halve(candidates, options, early);
    if (points == 0) {
      EXPECT_FALSE(outcome);
      EXPECT_GT(largestCost(candidates, 1, options), options.budget);
      continue;
    }
    ASSERT_TRUE(outcome);
    double spent = 0;
    for (const RungOutcome &rung : outcome->rungs)
      for (const Evaluation &each : rung.evaluations)
        spent += each.cost;
    EXPECT_EQ(outcome->spent, spent);
    EXPECT_LE(spent, options.budget);
    EXPECT_EQ(outcome->rungs[0].candidates.size(), points);
    // One more point could not have been promised its way to the end.
    if (points < candidates.size())
      EXPECT_GT(largestCost(candidates, points + 1, options), options.budget);
  }
}

TEST(Halving, EveryPromotedPointWasAmongTheBest) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 400; ++trial) {
    HalvingOptions options = drawOptions(rng);
    options.promotion = Promotion::Score;
    std::vector<Candidate> candidates = draw(rng, 1 + rng() % 60, options);
    if (rng() % 2)
      options.mostPoints = 1 + rng() % 40;
    auto outcome = halve(candidates, options, exact(candidates));
    ASSERT_TRUE(outcome);
    for (size_t r = 0; r < outcome->rungs.size(); ++r) {
      const RungOutcome &rung = outcome->rungs[r];
      ASSERT_EQ(rung.candidates.size(), rung.evaluations.size());
      std::set<size_t> promoted(rung.promoted.begin(), rung.promoted.end());
      EXPECT_EQ(promoted.size(), rung.promoted.size()) << "nobody is promoted twice";
      if (rung.finishing || rung.rung + 1 == options.rungs) {
        EXPECT_TRUE(promoted.empty());
        continue;
      }
      EXPECT_LE(promoted.size(), std::max<size_t>(1, rung.candidates.size() / options.eta));
      double worstPromoted = 1e9, bestLeft = -1e9;
      size_t scored = 0;
      for (size_t i = 0; i < rung.candidates.size(); ++i) {
        std::optional<double> score = rung.evaluations[i].score;
        scored += score.has_value();
        if (promoted.contains(rung.candidates[i])) {
          ASSERT_TRUE(score) << "a failed point was promoted";
          worstPromoted = std::min(worstPromoted, *score);
        } else if (score) {
          bestLeft = std::max(bestLeft, *score);
        }
      }
      EXPECT_GE(worstPromoted, bestLeft);
      EXPECT_EQ(promoted.empty(), scored == 0);
      if (r + 1 < outcome->rungs.size() && !outcome->rungs[r + 1].finishing)
        EXPECT_EQ(std::set<size_t>(outcome->rungs[r + 1].candidates.begin(),
                                   outcome->rungs[r + 1].candidates.end()),
                  promoted);
    }
    EXPECT_EQ(outcome->front, paretoFront(outcome->measured));
  }
}

TEST(Halving, IsTheSameAgain) {
  std::mt19937 rng(3);
  for (int trial = 0; trial < 50; ++trial) {
    HalvingOptions options = drawOptions(rng);
    std::vector<Candidate> candidates = draw(rng, 30, options);
    auto first = halve(candidates, options, exact(candidates));
    auto second = halve(candidates, options, exact(candidates));
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->front, second->front);
    ASSERT_EQ(first->rungs.size(), second->rungs.size());
    for (size_t r = 0; r < first->rungs.size(); ++r)
      EXPECT_EQ(first->rungs[r].candidates, second->rungs[r].candidates);
  }
}

/// Measured costs that are up to twice what was foreseen: later rungs shrink, and the budget is
/// exceeded by no more than the first rung's surprise.
TEST(Halving, PlansAnewWhenCostsAreMeasured) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 200; ++trial) {
    HalvingOptions options = drawOptions(rng);
    std::vector<Candidate> candidates = draw(rng, 1 + rng() % 40, options);
    double factor = 0.5 + static_cast<double>(rng() % 100) / 64;
    options.budget = 1.5 * largestCost(candidates, 1 + candidates.size() / 2, options);
    double foreseenFirst = 0;
    auto outcome =
        halve(candidates, options, [&](const Rung &rung) -> Result<std::vector<Evaluation>> {
          std::vector<Evaluation> results;
          for (size_t i : rung.candidates) {
            results.push_back({scoreOf(i, rung.rung), factor * candidates[i].costs[rung.rung]});
            if (rung.rung == 0)
              foreseenFirst += candidates[i].costs[0];
          }
          return results;
        });
    ASSERT_TRUE(outcome);
    EXPECT_LE(outcome->spent, std::max(options.budget, factor * foreseenFirst) * (1 + 1e-9));
  }
}

} // namespace
} // namespace hybrid::rt::lab
