//===- SearchTest.cpp - rungs as studies, stopped and started again ---------------===//
#include "laboratory/search/Search.h"
#include "SpaceFixture.h"
#include "laboratory/Worker.h"
#include <fstream>

namespace hybrid::rt::lab {
namespace {

/// A search over 3 x 5 points and two tasks, trained by `trained`.
class SearchTest : public testing::Test {
protected:
  SearchPlan plan() {
    SearchPlan plan;
    plan.folder = folder.file("");
    plan.path = "m.hyb";
    plan.source = spaceText;
    plan.space = makeSpace(3, 5);
    plan.protocol = Protocol::named("smoke", Convention::Paper);
    plan.protocol.tasks = {"in-context-recall", "memorization"};
    plan.protocol.learningRates = {1e-3, 2e-3};
    plan.protocol.steps = 90;
    plan.suite = *plan.protocol.settings();
    for (uint64_t point = 0; point < plan.space.points; ++point) {
      double flops = 1e5 * static_cast<double>(1 + point % 4);
      PointCost cost{100,
                     flops,
                     3 * flops,
                     {},
                     StateSize{static_cast<int64_t>(point % 3), 0},
                     std::to_string(point)};
      plan.points.push_back({point, "", {cost, cost}});
    }
    return plan;
  }

  /// The accuracy of "a=A b=B" depends on A, B, the length and the learning rate; b = 4 fails.
  static void trainOne(lab::Run &run) {
    int a = run.architecture[2] - '0', b = run.architecture[6] - '0';
    run.status = b == 4 ? "failed" : "done";
    run.error = b == 4 ? "no" : "";
    run.stepsDone = run.bestStep = run.steps;
    run.accuracy = (a + 1) * (b + 2) / 20.0 + static_cast<double>(run.steps) / 1e3 +
                   (run.task == "memorization" ? 0.01 : 0) + run.learningRate;
    run.madAccuracy = run.accuracy / 2;
    run.seconds = 0.001;
    run.curve = {{run.steps, 1, run.accuracy, run.madAccuracy}};
  }

  SearchTools tools() {
    SearchTools result;
    result.train = [this](const std::string &database,
                          const std::function<bool()> &stop) -> Result<bool> {
      auto isKilled = [this] { return stopAfter > 0 && trained >= stopAfter; };
      WorkerOptions options;
      options.database = database;
      options.stop = [&] { return stop() || isKilled(); };
      auto worked = work(options, [&](std::span<lab::Run> runs, RunMonitor &) {
        for (lab::Run &run : runs) {
          trainOne(run);
          ++trained;
        }
      });
      if (!worked)
        return worked.error();
      return isKilled();
    };
    return result;
  }

  TemporaryFolder folder;
  int trained = 0, stopAfter = 0;
};

TEST_F(SearchTest, GoesRungByRung) {
  SearchPlan search = plan();
  auto outcome = runSearch(search, tools());
  ASSERT_TRUE(outcome) << outcome.error().message;
  const HalvingOutcome &halving = outcome->halving;
  ASSERT_GE(halving.rungs.size(), 3u);
  EXPECT_EQ(halving.rungs[0].candidates.size(), 15u);
  EXPECT_EQ(halving.rungs[1].candidates.size(), 5u);
  EXPECT_EQ(halving.rungs[2].candidates.size(), 1u);
  // The best: a = 2, b = 3, trained for 90 steps with the larger rate.
  EXPECT_EQ(halving.rungs[2].candidates[0], 13u);
  EXPECT_NEAR(*halving.measured[13].scores[2], 3 * 5 / 20.0 + 0.09 + 0.005 + 0.002, 1e-12);
  auto first = readStudy(folder.file("rung-1.db"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->runs.size(), 15u * 2 * 2);
  EXPECT_EQ(first->runs[0].steps, 10);
  // A point that failed has no score and is in no front.
  EXPECT_FALSE(halving.measured[4].scores[0]);
  for (size_t index : halving.front) {
    EXPECT_NE(search.points[index].point % 5, 4u);
    EXPECT_TRUE(halving.measured[index].scores[2]) << "the front is finished";
  }
  EXPECT_EQ(outcome->front.architectures.size(), halving.front.size());
  EXPECT_EQ(outcome->front.runs.size(), halving.front.size() * 4);
  EXPECT_EQ(outcome->front.architectures[0].source.find("one_of"), std::string::npos);
}

TEST_F(SearchTest, SpendsWhatItWasForeseenTo) {
  SearchPlan search = plan();
  search.halving.finish = false;
  std::vector<Candidate> candidates = candidatesOf(search);
  search.halving.budget = largestCost(candidates, 7, search.halving);
  auto outcome = runSearch(search, tools());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->halving.rungs[0].candidates.size(), affordable(candidates, search.halving));
  EXPECT_GE(outcome->halving.rungs[0].candidates.size(), 7u);
  EXPECT_LE(outcome->halving.spent, search.halving.budget);
  EXPECT_GT(outcome->halving.spent, 0.3 * search.halving.budget);
}

/// Killed again and again, it ends as one that never was, and trains nothing twice.
TEST_F(SearchTest, GoesOnWhereItWasStopped) {
  auto whole = runSearch(plan(), tools());
  ASSERT_TRUE(whole) << whole.error().message;
  std::string wanted = describeSearch(plan(), *whole).dump();
  int all = std::exchange(trained, 0);
  std::filesystem::remove_all(folder.file(""));
  std::filesystem::create_directories(folder.file(""));
  int restarts = 0;
  for (;; ++restarts) {
    stopAfter = trained + 7;
    auto outcome = runSearch(plan(), tools());
    if (outcome) {
      EXPECT_EQ(describeSearch(plan(), *outcome).dump(), wanted);
      break;
    }
    ASSERT_EQ(outcome.error().message, stoppedMessage);
    ASSERT_LT(restarts, 100);
  }
  EXPECT_GT(restarts, 5);
  EXPECT_EQ(trained, all);
}

TEST_F(SearchTest, RefusesAnotherSearchsRuns) {
  ASSERT_TRUE(runSearch(plan(), tools()));
  SearchPlan other = plan();
  other.protocol.steps = 180;
  auto outcome = runSearch(other, tools());
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("holds other runs"), std::string::npos);
}

TEST_F(SearchTest, CountsSecondsWhenAsked) {
  SearchPlan search = plan();
  search.secondsPerFlop = 1e-18;
  search.halving.budget = 3600;
  auto outcome = runSearch(search, tools());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_GT(outcome->halving.spent, 0.001 * 60);
  EXPECT_LT(outcome->halving.spent, 60);
  // No time is left: the first rung ends at once, and nothing is promoted.
  std::filesystem::remove_all(folder.file(""));
  std::filesystem::create_directories(folder.file(""));
  search.halving.budget = 1e-4;
  outcome = runSearch(search, tools());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->halving.rungs.size(), 1u);
}

TEST_F(SearchTest, EvaluationsCount) {
  SearchPlan search = plan();
  search.protocol.evaluations = 20;
  double flops = pointFlops(search.points[0], search.protocol, search.suite);
  double training = 0, evaluation = 0;
  for (const Setting &each : search.suite) {
    auto tokens = static_cast<double>(each.positions);
    training += 2 * 90 * 16 * tokens * 3e5;    // two learning rates
    evaluation += 2 * 19 * 256 * tokens * 1e5; // every 5 of 90 steps, and at the end
  }
  EXPECT_NEAR(flops, training + evaluation, 1);
}

} // namespace
} // namespace hybrid::rt::lab
