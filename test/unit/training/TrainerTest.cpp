#include "training/Trainer.h"
#include "FakeModel.h"
#include "training/record/FolderLock.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace hybrid::rt;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

class TrainerTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "trainer-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    options.quiet = true;
    options.steps = 60;
    options.schedule.base = 0.05;
    options.schedule.warmup = 5;
    options.reportEvery = 7;
    options.evalEvery = 20;
    options.checkpointEvery = 10;
    options.evalExamples = 20;
    options.finalExamples = 50;
  }
  void TearDown() override { fs::remove_all(folder); }

  Result<TrainOutcome> run(const std::string &name, FakeModel &model, bool resume = false) {
    options.out = folder + "/" + name;
    options.resume = resume;
    return trainModel(model, FakeSource(9, 5), options);
  }
  Result<TrainOutcome> run(const std::string &name, bool resume = false) {
    FakeModel model(4, 10, 5);
    return run(name, model, resume);
  }
  std::string read(const std::string &name) {
    std::ifstream file(folder + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// The metrics without what depends on the clock.
  std::vector<json> metrics(const std::string &name) {
    std::ifstream file(folder + "/" + name + "/metrics.jsonl");
    std::vector<json> lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(json::parse(line, nullptr, false));
      lines.back().erase("seconds");
      lines.back().erase("tokens_per_second");
    }
    return lines;
  }
  void expectSameRun(const std::string &a, const std::string &b) {
    const std::string last = "/checkpoints/" + checkpointName(60);
    EXPECT_EQ(read(a + last), read(b + last));
    EXPECT_FALSE(read(a + last).empty());
    EXPECT_EQ(read(a + "/checkpoints/best.safetensors"), read(b + "/checkpoints/best.safetensors"));
    EXPECT_EQ(metrics(a), metrics(b));
  }

  TrainOptions options;
  std::string folder;
};

} // namespace

TEST_F(TrainerTest, LearnsAndLeavesARunFolder) {
  auto outcome = run("a");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->summary["steps"], 60);
  EXPECT_EQ(outcome->summary["eval_accuracy"], 1.0);
  json summary = json::parse(read("a/summary.json"), nullptr, false);
  for (const char *key : {"eval_loss", "eval_accuracy", "eval_bits_per_byte", "train_seconds",
                          "tokens_per_second", "peak_bytes", "steps", "parameters"})
    EXPECT_TRUE(summary[key].is_number()) << key;
  json config = json::parse(read("a/config.json"), nullptr, false);
  EXPECT_EQ(config["lr"], 0.05);
  std::vector<json> lines = metrics("a");
  EXPECT_EQ(lines.size(), 9u + 3u + 1u); // reports, evaluations, the final one
  EXPECT_EQ(lines[0]["step"], 7);
  EXPECT_EQ(lines[0]["split"], "train");
  EXPECT_EQ(lines.back()["final"], true);
  EXPECT_EQ(listCheckpoints(folder + "/a/checkpoints").size(), 3u); // --keep
}

TEST_F(TrainerTest, SameSeedSameBytes) {
  ASSERT_TRUE(run("a") && run("b"));
  expectSameRun("a", "b");
  options.seed = 1;
  ASSERT_TRUE(run("c"));
  EXPECT_NE(read("a/checkpoints/best.safetensors"), read("c/checkpoints/best.safetensors"));
}

TEST_F(TrainerTest, ResumingTwiceGivesTheBytesOfAnUninterruptedRun) {
  ASSERT_TRUE(run("whole"));
  // A signal saves at once, between reports and checkpoints: the open interval must survive.
  for (int64_t at : {3, 17}) {
    FakeModel model(4, 10, 5);
    model.signalAt = at;
    auto outcome = run("parts", model, at != 3);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->interrupted, "SIGTERM");
    EXPECT_EQ(outcome->step, at == 3 ? 3 : 20);
  }
  ASSERT_TRUE(run("parts", true));
  expectSameRun("whole", "parts");
}

// Asked between steps and between the batches of evaluations: wherever a run is stopped, the one
// that goes on has the bytes of one that was not.
TEST_F(TrainerTest, StoppedAnywhereItGoesOnToTheSameBytes) {
  struct Impatient : TrainObserver {
    int left = 0, asked = 0;
    bool wantsStop() override { return ++asked >= left; }
  };
  ASSERT_TRUE(run("whole"));
  int stops = 0;
  for (int patience = 1;; patience += 7) { // falls everywhere, and ends soon enough
    const std::string name = "parts" + std::to_string(patience);
    Impatient observer;
    observer.left = patience;
    options.observer = &observer;
    auto outcome = run(name);
    options.observer = nullptr;
    ASSERT_TRUE(outcome) << outcome.error().message;
    if (outcome->interrupted.empty())
      break;
    ++stops;
    auto rest = run(name, true);
    ASSERT_TRUE(rest) << rest.error().message;
    EXPECT_EQ(rest->summary["eval_loss"], json::parse(read("whole/summary.json"))["eval_loss"]);
    expectSameRun("whole", name);
  }
  EXPECT_GT(stops, 10) << "of some 130 questions";
}

TEST_F(TrainerTest, AFolderHasOneWriter) {
  ASSERT_TRUE(run("a"));
  auto lock = FolderLock::take(folder + "/a");
  ASSERT_TRUE(lock);
  auto second = run("a", true);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another process is writing"), std::string::npos);
}

TEST_F(TrainerTest, ACrashAfterTheCheckpointLosesNothingButTime) {
  ASSERT_TRUE(run("whole"));
  FakeModel model(4, 10, 5);
  model.nanAt = 35; // dies between the checkpoints of steps 30 and 40
  auto outcome = run("parts", model);
  ASSERT_FALSE(outcome);
  std::ofstream(folder + "/parts/metrics.jsonl", std::ios::app) << "{\"step\": 34, \"torn";
  std::ofstream(folder + "/parts/checkpoints/step-00000040.safetensors.hybrid-tmp-abcdef")
      << "half";
  ASSERT_TRUE(run("parts", true));
  expectSameRun("whole", "parts");
}

TEST_F(TrainerTest, ResumingAFinishedRunChangesNothing) {
  ASSERT_TRUE(run("a") && run("b"));
  ASSERT_TRUE(run("b", true));
  expectSameRun("a", "b");
}

TEST_F(TrainerTest, ADamagedCheckpointIsNamedAndTheOneBeforeItIsUsed) {
  ASSERT_TRUE(run("whole"));
  FakeModel model(4, 10, 5);
  model.signalAt = 37;
  ASSERT_TRUE(run("parts", model));
  std::string newest = folder + "/parts/checkpoints/" + checkpointName(37);
  fs::resize_file(newest, fs::file_size(newest) / 2);
  options.quiet = false;
  testing::internal::CaptureStderr();
  auto outcome = run("parts", true);
  std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_NE(said.find("warning"), std::string::npos);
  EXPECT_NE(said.find(newest), std::string::npos);
  EXPECT_NE(said.find("resuming after step 30"), std::string::npos);
  fs::remove(newest);
  expectSameRun("whole", "parts");
}

TEST_F(TrainerTest, WithOnlyDamagedCheckpointsItStops) {
  FakeModel model(4, 10, 5);
  model.signalAt = 5;
  ASSERT_TRUE(run("a", model));
  std::string path = folder + "/a/checkpoints/" + checkpointName(5);
  fs::resize_file(path, 100);
  auto outcome = run("a", true);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find(path), std::string::npos);
}

TEST_F(TrainerTest, RefusesOtherSettingsOrAnotherExecutable) {
  FakeModel model(4, 10, 5);
  model.signalAt = 12;
  ASSERT_TRUE(run("a", model));
  FakeModel other(4, 10, 5);
  other.print = 78;
  auto outcome = run("a", other, true);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("another executable"), std::string::npos);
  options.schedule.base = 0.1;
  outcome = run("a", true);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("lr is 0.1, the run had 0.05"), std::string::npos)
      << outcome.error().message;
}

TEST_F(TrainerTest, AnUsedFolderNeedsResume) {
  ASSERT_TRUE(run("a"));
  auto outcome = run("a");
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("--resume"), std::string::npos);
}

TEST_F(TrainerTest, ResumingNothingStartsFromTheBeginning) {
  ASSERT_TRUE(run("a"));
  ASSERT_TRUE(run("b", true));
  expectSameRun("a", "b");
}

TEST_F(TrainerTest, ANonFiniteLossNamesStepOperationAndLastCheckpoint) {
  FakeModel model(4, 10, 5);
  model.nanAt = 25;
  auto outcome = run("a", model);
  ASSERT_FALSE(outcome);
  for (const char *part : {"step 25", "nan", "exp at fake.hyb:1:1", "step-00000020.safetensors"})
    EXPECT_NE(outcome.error().message.find(part), std::string::npos) << outcome.error().message;
  EXPECT_TRUE(fs::exists(folder + "/a/checkpoints/" + checkpointName(20)));
}

TEST_F(TrainerTest, AStateThatEvaluatesToNoNumberIsNotKept) {
  FakeModel model(4, 10, 5);
  model.nanLogitsFrom = 35;
  auto outcome = run("a", model);
  ASSERT_FALSE(outcome);
  for (const char *part : {"step 40: the evaluation's loss is nan", "step-00000030.safetensors"})
    EXPECT_NE(outcome.error().message.find(part), std::string::npos) << outcome.error().message;
  EXPECT_FALSE(fs::exists(folder + "/a/checkpoints/" + checkpointName(40)));
  // What was kept is whole, and the run can go on from it.
  ASSERT_TRUE(run("whole"));
  auto resumed = run("a", true);
  ASSERT_TRUE(resumed) << resumed.error().message;
  expectSameRun("a", "whole");
}

TEST_F(TrainerTest, AnObserverIsToldWhichStepDiverged) {
  struct Watcher final : TrainObserver {
    void diverged(int64_t step) override { steps.push_back(step); }
    std::vector<int64_t> steps;
  } watcher;
  options.observer = &watcher;
  for (int ahead : {0, 2}) {
    watcher.steps.clear();
    FakeModel model(4, 10, 5);
    model.ahead = ahead, model.nanAt = 25;
    EXPECT_FALSE(run("nan" + std::to_string(ahead), model));
    EXPECT_EQ(watcher.steps, std::vector<int64_t>{24});
  }
  watcher.steps.clear();
  EXPECT_TRUE(run("fine"));
  EXPECT_TRUE(watcher.steps.empty());
}

TEST_F(TrainerTest, StepsAheadLeaveTheBytesOfStepsOneByOne) {
  ASSERT_TRUE(run("whole"));
  for (int ahead : {1, 2}) {
    std::string name = "ahead" + std::to_string(ahead);
    FakeModel first(4, 10, 5), second(4, 10, 5);
    first.ahead = second.ahead = ahead;
    first.signalAt = 17; // saved with bursts on their way
    auto outcome = run(name, first);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->step, 17);
    outcome = run(name, second, true);
    ASSERT_TRUE(outcome) << outcome.error().message;
    expectSameRun("whole", name);
  }
  FakeModel model(4, 10, 5);
  model.ahead = 2, model.mostSteps = 8, model.nanAt = 25;
  auto outcome = run("nan", model);
  ASSERT_FALSE(outcome);
  for (const char *part : {"step 25", "nan", "exp at fake.hyb:1:1", "step-00000020.safetensors"})
    EXPECT_NE(outcome.error().message.find(part), std::string::npos) << outcome.error().message;
}

TEST_F(TrainerTest, BurstsOfEverySizeLeaveTheBytesOfStepsOneByOne) {
  ASSERT_TRUE(run("whole"));
  for (int64_t most : {1, 3, 100}) {
    std::string name = "bursts" + std::to_string(most);
    FakeModel first(4, 10, 5), second(4, 10, 5), third(4, 10, 5);
    for (FakeModel *model : {&first, &second, &third})
      model->ahead = 2, model->mostSteps = most;
    first.signalAt = 17;
    auto outcome = run(name, first);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->interrupted, "SIGTERM");
    second.nanAt = 20; // a crash inside of a burst
    EXPECT_FALSE(run(name, second, true));
    ASSERT_TRUE(run(name, third, true));
    expectSameRun("whole", name);
    for (const FakeModel *model : {&first, &second, &third})
      for (int64_t size : model->burstSizes)
        EXPECT_LE(size, std::min<int64_t>(most, 10)) << "a checkpoint is due every ten steps";
  }
}

TEST_F(TrainerTest, AnEpochIsOneBurst) {
  options.steps = 400;
  options.evalEvery = 100;
  options.out.clear();
  FakeModel model(4, 10, 5);
  model.ahead = 2, model.mostSteps = 128;
  auto outcome = trainModel(model, FakeSource(9, 5), options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  std::vector<int64_t> last(model.burstSizes.end() - 3, model.burstSizes.end());
  EXPECT_EQ(last, (std::vector<int64_t>{100, 100, 100})); // no checkpoints without a folder
  options.evalEvery = 200;                                // halves, as more than 128 do not fit
  model.burstSizes.clear();
  ASSERT_TRUE(trainModel(model, FakeSource(9, 5), options));
  EXPECT_EQ(std::vector<int64_t>(model.burstSizes.end() - 2, model.burstSizes.end()),
            (std::vector<int64_t>{100, 100}));
}

TEST_F(TrainerTest, TheStepThatWentWrongInABurstIsTold) {
  FakeModel model(4, 10, 5);
  model.ahead = 2, model.mostSteps = 100;
  model.nanAt = 37;
  options.checkpointEvery = 30;
  auto outcome = run("a", model);
  ASSERT_FALSE(outcome);
  for (const char *part : {"step 37", "nan", "exp at fake.hyb:1:1", "step-00000030.safetensors"})
    EXPECT_NE(outcome.error().message.find(part), std::string::npos) << outcome.error().message;
  std::vector<int32_t> tokens(10), targets(9); // the batch of that step is looked through
  FakeSource(9, 5).train(36 * 4, std::span(tokens).first(9), targets);
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), model.searched.begin()));
  EXPECT_EQ(listCheckpoints(folder + "/a/checkpoints").front().step, 30);
  std::vector<json> lines = metrics("a");
  EXPECT_EQ(lines.back()["step"], 35) << "reports up to the step before";
}

TEST_F(TrainerTest, RunsTogetherAreTheRunsAlone) {
  const double rates[] = {0.05, 0.02, 0.1};
  for (int64_t most : {1, 7}) {
    std::vector<FakeSource> sources(3, FakeSource(9, 5));
    std::vector<TrainRun> runs;
    std::string tag = std::to_string(most);
    for (size_t i = 0; i < 3; ++i) {
      TrainOptions own = options;
      own.seed = i + 1;
      own.schedule.base = rates[i];
      own.weightDecay = 0.1 * static_cast<double>(i);
      own.stopAccuracy = i == 2 ? 0.99 : 0;
      own.steps = i == 1 ? 50 : 60; // one ends before the others
      own.out = folder + "/alone" + tag + std::to_string(i);
      FakeModel model(4, 10, 5);
      ASSERT_TRUE(trainModel(model, sources[i], own));
      own.out = folder + "/together" + tag + std::to_string(i);
      runs.push_back({&sources[i], own});
    }
    FakeModel model(4, 10, 5, 4); // one replica stays without a run
    model.ahead = most > 1 ? 2 : 0, model.mostSteps = most;
    auto outcomes = trainModels(model, runs);
    ASSERT_TRUE(outcomes) << outcomes.error().message;
    ASSERT_EQ(outcomes->size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE((*outcomes)[i]) << (*outcomes)[i].error().message;
      std::string alone = "alone" + tag + std::to_string(i),
                  together = "together" + tag + std::to_string(i);
      EXPECT_EQ(metrics(alone), metrics(together));
      const std::string last = "/checkpoints/" + checkpointName((*outcomes)[i]->step);
      EXPECT_EQ(read(alone + last), read(together + last));
      EXPECT_FALSE(read(alone + last).empty());
      EXPECT_EQ(read(alone + "/checkpoints/best.safetensors"),
                read(together + "/checkpoints/best.safetensors"));
    }
    EXPECT_LT((*outcomes)[2]->step, 60);
    EXPECT_EQ(model.activeReplicas(), 4) << "as they were before";
  }
}

TEST_F(TrainerTest, ARunThatFailsLeavesTheOthersAlone) {
  FakeSource source(9, 5);
  std::vector<TrainRun> runs;
  for (const char *name : {"/a", "/b", "/c"}) {
    options.out = folder + name;
    runs.push_back({&source, options});
  }
  ASSERT_TRUE(run("alone"));
  std::ofstream(folder + "/c") << "a file where the folder should be";
  FakeModel model(4, 10, 5, 3);
  model.ahead = 2, model.mostSteps = 6;
  model.nanReplica = 1, model.nanAt = 25;
  auto outcomes = trainModels(model, runs);
  ASSERT_TRUE(outcomes) << outcomes.error().message;
  ASSERT_TRUE((*outcomes)[0]);
  ASSERT_FALSE((*outcomes)[1]);
  EXPECT_NE((*outcomes)[1].error().message.find("step 25"), std::string::npos);
  EXPECT_FALSE((*outcomes)[2]);
  expectSameRun("alone", "a");
  runs.push_back(runs[0]);
  EXPECT_FALSE(trainModels(model, runs)) << "more runs than replicas";
}

TEST_F(TrainerTest, StopsAtTheAccuracyAskedFor) {
  options.steps = 1000;
  options.stopAccuracy = 0.99;
  auto outcome = run("a");
  ASSERT_TRUE(outcome);
  EXPECT_LT(outcome->summary["steps"].get<int64_t>(), 1000);
  EXPECT_GE(outcome->summary["eval_accuracy"].get<double>(), 0.99);
}

TEST_F(TrainerTest, WithoutAFolderTheOutcomeTellsEverything) {
  auto whole = run("a");
  ASSERT_TRUE(whole);
  struct Watcher final : TrainObserver {
    void evaluated(const EvaluationPoint &point, bool isFinal) override {
      (isFinal ? finals : seen).push_back(point.step);
    }
    bool wantsStop() override { return stops && seen.size() == 2; }
    std::vector<int64_t> seen, finals;
    bool stops = false;
  } watcher;
  FakeModel model(4, 10, 5);
  options.out.clear();
  options.observer = &watcher;
  options.handleSignals = false;
  auto outcome = trainModel(model, FakeSource(9, 5), options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(watcher.seen, (std::vector<int64_t>{20, 40, 60}));
  EXPECT_EQ(watcher.finals, std::vector<int64_t>{60});
  ASSERT_EQ(outcome->curve.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(outcome->curve[i].step, whole->curve[i].step);
    EXPECT_EQ(outcome->curve[i].score.loss, whole->curve[i].score.loss);
    EXPECT_EQ(outcome->curve[i].score.madAccuracy, whole->curve[i].score.madAccuracy);
  }
  EXPECT_EQ(outcome->final.score.loss, whole->final.score.loss);
  EXPECT_EQ(outcome->summary["best"], whole->summary["best"]);

  watcher = {};
  watcher.stops = true;
  outcome = trainModel(model, FakeSource(9, 5), options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->interrupted, "observer");
  EXPECT_EQ(outcome->step, 40);
  EXPECT_EQ(outcome->curve.size(), 2u);
  options.resume = true;
  EXPECT_FALSE(trainModel(model, FakeSource(9, 5), options));
}

TEST_F(TrainerTest, AResumedRunHasTheWholeCurve) {
  auto whole = run("whole");
  FakeModel model(4, 10, 5);
  model.signalAt = 33;
  ASSERT_TRUE(run("parts", model));
  auto outcome = run("parts", true);
  ASSERT_TRUE(whole && outcome);
  ASSERT_EQ(outcome->curve.size(), whole->curve.size());
  for (size_t i = 0; i < whole->curve.size(); ++i) {
    EXPECT_EQ(outcome->curve[i].step, whole->curve[i].step);
    EXPECT_EQ(outcome->curve[i].score.loss, whole->curve[i].score.loss);
  }
}

TEST_F(TrainerTest, ATimeLimitAlonePlansTheSteps) {
  options.steps = 0;
  options.timeLimit = 1;
  auto outcome = run("a");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_GT(outcome->summary["steps"].get<int64_t>(), 12);
  EXPECT_LT(outcome->summary["train_seconds"].get<double>(), 20);
}

/// The learning rate is that of the steps planned at first, whatever the machine does later.
TEST_F(TrainerTest, ASlowerMachineDoesNotBendTheSchedule) {
  options.steps = 0;
  options.timeLimit = 1;
  options.reportEvery = 1;
  FakeModel model(4, 10, 5);
  model.slowFrom = 60;
  auto outcome = run("a", model);
  ASSERT_TRUE(outcome) << outcome.error().message;
  std::vector<double> rates;
  for (const json &line : metrics("a"))
    if (line["split"] == "train")
      rates.push_back(line["lr"].get<double>());
  ASSERT_GT(rates.size(), 40u);
  const auto state = loadCheckpoint(
      folder + "/a/checkpoints/" + checkpointName(outcome->summary["steps"].get<int64_t>()), model);
  ASSERT_TRUE(state) << state.error().message;
  ASSERT_GT(state->plannedSteps, outcome->summary["steps"].get<int64_t>());
  Schedule planned = options.schedule;
  planned.total = state->plannedSteps;
  for (size_t step = 30; step < rates.size(); ++step)
    EXPECT_DOUBLE_EQ(rates[step], planned.at(static_cast<int64_t>(step))) << step;
}

TEST_F(TrainerTest, RefusesAModelThatIsTooShort) {
  FakeModel model(4, 8, 5);
  auto outcome = run("a", model);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("--length 9"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder + "/a"));
}
