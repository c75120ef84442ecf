//===- StudyTest.cpp - planned trainings in the database of runs -----------------------===//
#include "laboratory/Worker.h"
#include "laboratory/scale/StudyPage.h"
#include "laboratory/scale/Sweeps.h"
#include "laboratory/scale/Train.h"
#include "test/unit/laboratory/Fixture.h"
#include <cmath>
#include <csignal>
#include <fstream>
#include <random>
#include <set>
#include <sys/wait.h>
#include <thread>

namespace hybrid::rt::lab::scale {
namespace {

constexpr double divergingRate = 0.25;

ScaleProtocol protocolOf() { return {"text:a.txt", 64, "true", "f32", "cpu", 100}; }

/// Runs of two models, one of them with a sweep of ratios, the other with one of batches and one
/// smaller than all, at two budgets and five sizes.
std::vector<PlannedRun> plannedRuns(const std::string &folder) {
  std::vector<PlannedRun> runs;
  const std::string path = folder + "/model.hyb";
  std::ofstream(path) << "a model\n";
  auto add = [&](const std::string &name, double budget, int width, double share, int ratio) {
    PlannedRun run;
    run.architecture = name;
    run.path = path;
    run.size = fmt::format("w{}", width);
    run.settings = {"size=" + run.size};
    if (ratio >= 0)
      run.settings.push_back(fmt::format("ratio={}", ratio));
    run.budget = run.flops = budget;
    run.sweep = share > 0 ? "ratios" : "";
    run.cost = {1e3 * width, 1e3 * width, 6e3 * width, 1e6 * width, StateSize{width, 64 * ratio}};
    run.batch = 4;
    run.steps = std::llround(budget / run.cost.flopsPerToken / 256);
    run.rate = width == 32 && budget > 2e12 ? divergingRate : 1e-3;
    runs.push_back(run);
  };
  for (double budget : {1e12, 4e12})
    for (int width : {16, 32, 64, 128, 256}) {
      add("first", budget, width, 0, -1);
      add("striped", budget, width, 0, 3);
    }
  for (int width : {16, 32, 64, 128, 256})
    add("striped ratio=1", 1e12, width, 1, 1);
  add("first", 1e12, 8, 0, -1);
  runs.back().sweep = "overtrain";
  runs.back().factor = 8;
  for (int64_t batch : {2, 8}) {
    add("first", 1e12, 64, 0, -1);
    PlannedRun &run = runs.back();
    run.sweep = "batches";
    run.factor = static_cast<double>(batch) / 4;
    run.steps = run.steps * 4 / batch;
    run.batch = batch;
  }
  return runs;
}

/// A law with its minimum at 56 thousand parameters for 1e12 FLOPs.
double lossOf(const lab::Run &run) {
  const double params = static_cast<double>(run.parameters);
  const double off = std::log(params / (56e3 * std::sqrt(run.axisValue / 1e12)));
  return 2 + 0.05 * off * off - 0.1 * std::log(run.axisValue / 1e12) +
         0.01 * static_cast<double>(run.task.size()) +
         0.001 * std::fabs(std::log2(run.batch / 4.0));
}

Attempt pretend(const lab::Run &run, double rate) {
  Attempt attempt;
  attempt.diverged = rate >= divergingRate;
  attempt.steps = run.steps;
  attempt.loss = lossOf(run) + rate;
  attempt.seconds = 1;
  attempt.curve = {{run.steps, attempt.loss, 0, NAN}};
  return attempt;
}

void pretendAll(std::span<lab::Run> runs, RunMonitor &) {
  for (Run &run : runs)
    trainOrRetry(run, [&](double rate) { return pretend(run, rate); });
}

std::string makeStudyAt(const TemporaryFolder &folder, const std::string &name) {
  auto study = studyOf(protocolOf(), plannedRuns(folder.file("")), "test", 0);
  EXPECT_TRUE(study) << study.error().message;
  std::string path = folder.file(name);
  storeAt(path, *study);
  return path;
}

std::string tableAt(const std::string &path) {
  auto study = readStudy(path);
  EXPECT_TRUE(study) << study.error().message;
  return pointsTable(trainedRuns(*study));
}

TEST(ScaleStudy, KilledAtRandomEndsWithTheSameNumbers) {
  TemporaryFolder folder;
  const std::string calm = makeStudyAt(folder, "calm.sqlite");
  ASSERT_TRUE(lab::work({calm, 1, 1, 0.001, {}}, pretendAll));
  const std::string expected = tableAt(calm);
  std::mt19937 random(5);
  int killed = 0;
  for (int round = 0; killed < 100; ++round) {
    const std::string path = makeStudyAt(folder, fmt::format("killed-{}.sqlite", round));
    auto store = RunStore::open(path, workerName());
    ASSERT_TRUE(store);
    for (;;) {
      ASSERT_TRUE(store->reclaim());
      ASSERT_TRUE(store->retryFailed()); // of one whose worker died again and again
      auto left = store->left();
      ASSERT_TRUE(left);
      if (*left == 0)
        break;
      const pid_t child = fork();
      if (child == 0) {
        auto done = lab::work({path, 1, 0.02, 0.001, {}},
                              [](std::span<lab::Run> runs, RunMonitor &monitor) {
                                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                pretendAll(runs, monitor);
                              });
        _exit(done ? 0 : 1);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      killed += WIFSIGNALED(status);
    }
    ASSERT_EQ(tableAt(path), expected);
  }
}

TEST(ScaleStudy, TriesWhatDivergesAgainWithHalfTheRate) {
  lab::Run run;
  run.learningRate = 1;
  std::vector<double> rates;
  auto diverges = [&](double above) {
    rates.clear();
    trainOrRetry(run, [&](double rate) {
      rates.push_back(rate);
      Attempt attempt;
      attempt.diverged = rate > above;
      attempt.loss = rate;
      return attempt;
    });
  };
  diverges(2);
  EXPECT_EQ(rates, (std::vector<double>{1}));
  EXPECT_EQ(run.status, "done");
  EXPECT_FALSE(run.diverged);
  diverges(0.75);
  EXPECT_EQ(rates, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(run.status, "done");
  EXPECT_TRUE(run.diverged);
  EXPECT_EQ(run.loss, 0.5);
  diverges(0.25);
  EXPECT_EQ(rates.size(), 2u) << "once";
  EXPECT_EQ(run.status, "failed");
  EXPECT_TRUE(run.diverged);
  EXPECT_EQ(run.error, "diverged with a rate of 1, and with half of it");
  run.status = "running";
  trainOrRetry(run, [](double) {
    Attempt attempt;
    attempt.isInterrupted = true;
    return attempt;
  });
  EXPECT_EQ(run.status, "running") << "it is given back";
}

TEST(ScaleStudy, MarksWhatWasRetriedAndFitsTheRest) {
  TemporaryFolder folder;
  const std::string path = makeStudyAt(folder, "study.sqlite");
  ASSERT_TRUE(lab::work({path, 1, 1, 0.001, {}}, pretendAll));
  auto study = readStudy(path);
  ASSERT_TRUE(study);
  const std::vector<TrainedRun> runs = trainedRuns(*study);
  ASSERT_EQ(runs.size(), 28u);
  int retried = 0;
  for (const TrainedRun &run : runs) {
    EXPECT_TRUE(run.isDone());
    retried += run.retried;
    EXPECT_EQ(run.rate, run.retried ? divergingRate / 2 : 1e-3);
    EXPECT_EQ(run.sweep == "ratios", run.point.group == "striped ratio=1");
  }
  EXPECT_EQ(retried, 2);
  auto page = writeStudy(*study, runs, {}, {2, 4}, folder.file(""));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->json["groups"].size(), 2u) << "a sweep has no law";
  EXPECT_EQ(page->json["remarks"].size(), 2u);
  // What was written is read as what it is.
  auto points = readPoints(folder.file("points.csv"));
  ASSERT_TRUE(points) << points.error().message;
  EXPECT_EQ(points->size(), 20u);
  auto swept = readPoints(folder.file("ratios.csv"));
  ASSERT_TRUE(swept) << swept.error().message;
  EXPECT_EQ(swept->size(), 5u);
  const nlohmann::ordered_json &ratios = page->json["ratios"];
  ASSERT_EQ(ratios.size(), 2u);
  EXPECT_EQ(ratios[0]["attention"], 0.25);
  EXPECT_EQ(ratios[1]["attention"], 0.5);
  EXPECT_NEAR(ratios[0]["params"]["value"].get<double>(), 56e3, 1e3);
  EXPECT_EQ(page->json["states"].size(), 28u);

  // Of the models that are smaller than the best one was trained for the sweep.
  EXPECT_EQ(readPoints(folder.file("overtrain.csv"))->size(), 1u);
  int small = 0;
  for (const auto &each : page->json["overtrain"]) {
    EXPECT_GT(each["factor"], 1);
    if (each["budget"] == 1e12) // the other one has runs with half the rate
      EXPECT_NEAR(each["rise"].get<double>(), each["by_parabola"].get<double>(), 0.001);
    if (!each["sweep"])
      continue;
    ++small;
    EXPECT_EQ(each["size"], "w8");
    EXPECT_NEAR(each["factor"].get<double>(), 7, 0.2);
    EXPECT_NEAR(each["rise"].get<double>(), 0.05 * std::pow(std::log(7), 2), 0.01);
  }
  EXPECT_EQ(small, 1);
  // The plan's own batch lies between those of the sweep, and is the best.
  EXPECT_EQ(readPoints(folder.file("batches.csv"))->size(), 2u);
  const nlohmann::ordered_json &batches = page->json["batches"];
  ASSERT_EQ(batches.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(batches[i]["batch_tokens"], 128 << i);
    EXPECT_EQ(batches[i]["lowest"], i == 1);
  }
}

TEST(ScaleStudy, SaysWhatBeingSmallerCosts) {
  std::vector<Point> points;
  for (double flops : {1e12, 1e13})
    for (double params : {1e4, 2e4, 4e4, 8e4, 1.6e5, 3.2e5}) {
      const double off = std::log(params / (5.6e4 * std::sqrt(flops / 1e12)));
      points.push_back({"a", flops, params, flops / 6 / params, 2 + 0.05 * off * off});
    }
  const auto costs = offOptimal(fitPoints(points, {}), {2, 4, 64});
  ASSERT_EQ(costs.size(), 6u);
  EXPECT_NEAR(*costs[0].byParabola, 0.05 * std::pow(std::log(2), 2), 1e-6);
  EXPECT_NEAR(*costs[1].byParabola, 0.05 * std::pow(std::log(4), 2), 1e-6);
  EXPECT_FALSE(costs[2].byParabola) << "nothing so small was trained";
}

TEST(ScaleStudy, GrowsByWhatIsNewAndRefusesWhatIsOther) {
  TemporaryFolder folder;
  const std::string path = makeStudyAt(folder, "study.sqlite");
  auto stored = readStudy(path);
  ASSERT_TRUE(stored);
  std::vector<PlannedRun> runs = plannedRuns(folder.file(""));
  runs.resize(1);
  runs[0].size = "w20";
  auto grown = grownStudy(*stored, *studyOf(protocolOf(), runs, "test", 0), path);
  ASSERT_TRUE(grown) << grown.error().message;
  EXPECT_EQ(grown->architectures.size(), stored->architectures.size() + 1);
  ASSERT_TRUE(RunStore::begin(*grown, path));
  EXPECT_EQ(readStudy(path)->runs.size(), 29u);
  ScaleProtocol other = protocolOf();
  other.length = 128;
  auto refused = grownStudy(*stored, *studyOf(other, runs, "test", 0), path);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("its length is 64, not 128"), std::string::npos)
      << refused.error().message;
  other = protocolOf();
  other.baseWidth = 64;
  refused = grownStudy(*stored, *studyOf(other, runs, "test", 0), path);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("its base_width is null, not 64"), std::string::npos)
      << refused.error().message;
}

TEST(ScaleStudy, NamesWhatDoesNotFit) {
  TemporaryFolder folder;
  const std::vector<PlannedRun> runs = plannedRuns(folder.file(""));
  EXPECT_TRUE(checkMemory(runs, 1, 256e6));
  auto large = checkMemory(runs, 1, 200e6);
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message.find(
                "first of size w256 at 1e+12 FLOPs takes 0.256 GB with its batch of 4"),
            std::string::npos)
      << large.error().message;
  EXPECT_FALSE(checkMemory(runs, 2, 500e6)) << "two at a time";
}

TEST(ScaleStudy, FindsTheStateFrontier) {
  std::vector<TrainedRun> runs(3);
  const StateSize states[] = {{10, 0}, {0, 100}, {20, 100}};
  const double losses[] = {2.5, 2.0, 2.2};
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i].status = "done";
    runs[i].budget = 1e12;
    runs[i].state = states[i];
    runs[i].point.loss = losses[i];
  }
  const auto frontier = stateFrontier(runs);
  ASSERT_EQ(frontier.size(), 3u);
  EXPECT_TRUE(frontier[0].onTotal && frontier[0].onDynamic);
  EXPECT_FALSE(frontier[0].onFixed) << "another has none and a lower loss";
  EXPECT_TRUE(frontier[1].onTotal && frontier[1].onFixed);
  EXPECT_FALSE(frontier[2].onTotal);
}

} // namespace
} // namespace hybrid::rt::lab::scale
