//===- LockStepTests.cpp - trainings together, trainings in bursts ----------===//
//
// Runs that train in lock-step as replicas of one program, in bursts of steps of any size, stopped
// and resumed or not, have the curves and parameters of runs alone, step by step, in every bit.
// The same of a finite training set that a device holds and orders by itself.
// HYBRID_TEST_TARGET is what models are compiled for (cpu): on the CPU a burst is one step.
//
//===----------------------------------------------------------------------===//
#include "test/unit/training/FakeModel.h"
#include "training/SessionRunner.h"
#include "training/Trainer.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace hybrid::rt;

namespace {

constexpr int64_t length = 16, classes = 16;

struct Model {
  std::unique_ptr<Session> session;
  std::unique_ptr<StepRunner> runner;
};

/// Stops a run when it has been asked so often.
struct Stopper final : TrainObserver {
  bool wantsStop() override { return --questions == 0; }
  int64_t questions = -1;
};

/// The first seven instances of FakeSource in the order of a seed. One that does not tell of its
/// set is drawn by the host.
class ShuffledSource final : public Source {
public:
  ShuffledSource(uint64_t seed, bool tells) : seed(seed), tells(tells) {}
  int64_t vocabulary() const override { return classes; }
  int64_t positions() const override { return length - 3; } // the rest is padding
  uint64_t epochExamples() const override { return size; }
  uint64_t testExamples() const override { return 0; }
  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    ++drawn;
    inner.train(hybrid::shuffledExample(number, size, seed), inputs, targets);
  }
  ShuffledSet shuffledSet() const override { return {tells ? size : 0, seed}; }
  void example(uint64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) const override {
    inner.train(i, inputs, targets);
  }
  void test(uint64_t i, uint64_t count, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    inner.test(i, count, inputs, targets);
  }
  nlohmann::json describe() const override { return {{"shuffled", size}}; }
  std::string shortName() const override { return "shuffled"; }

  mutable std::atomic<int> drawn = 0;

private:
  static constexpr uint64_t size = 7;
  uint64_t seed;
  bool tells;
  FakeSource inner{length, classes};
};

struct Case {
  const char *model, *settings;
};
void PrintTo(const Case &value, std::ostream *stream) { *stream << value.model; }

class LockStep : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "hybrid-lock-step-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Model modelOf(int64_t replicas, int64_t longestBurst) const {
    const char *target = std::getenv("HYBRID_TEST_TARGET");
    const std::string path = folder + "/" + std::to_string(replicas) + ".hyx";
    if (!std::filesystem::exists(path)) {
      const std::string command = "'" HYBRIDC "' '" HYBRID_MODELS_DIR "/" +
                                  std::string(GetParam().model) + "' --batch 2 --length 16 " +
                                  GetParam().settings + " --ensemble " + std::to_string(replicas) +
                                  " --target " + (target ? target : "cpu") + " -o '" + path + "'";
      if (std::system(command.c_str()) != 0) {
        ADD_FAILURE() << command;
        return {};
      }
    }
    auto executable = Executable::load(path);
    auto session = executable ? Session::create(*executable, {1})
                              : Result<std::unique_ptr<Session>>(executable.error());
    auto runner = session ? makeSessionRunner(**session, true, longestBurst)
                          : Result<std::unique_ptr<StepRunner>>(session.error());
    if (!runner) {
      ADD_FAILURE() << runner.error().message;
      return {};
    }
    return {std::move(*session), std::move(*runner)};
  }
  TrainOptions optionsOf(size_t run) const {
    TrainOptions options;
    options.quiet = true;
    options.handleSignals = false;
    options.seed = 20 + run;
    options.schedule.base = 0.01 / static_cast<double>(run + 1);
    options.schedule.warmup = 3;
    options.weightDecay = 0.1 * static_cast<double>(run);
    options.clip = 1;
    options.steps = run == 1 ? 11 : 15; // one ends before the others
    options.evalEvery = 5;
    options.checkpointEvery = 4;
    options.evalExamples = options.finalExamples = 5;
    return options;
  }
  static std::vector<std::vector<std::byte>> stateOf(StepRunner &runner, int64_t replica) {
    std::vector<std::vector<std::byte>> state;
    for (const StateTensor &tensor : runner.state(replica))
      state.emplace_back(tensor.data.begin(), tensor.data.end());
    return state;
  }
  static void expectSame(const TrainOutcome &a, const TrainOutcome &b) {
    ASSERT_EQ(a.curve.size(), b.curve.size());
    for (size_t i = 0; i < a.curve.size(); ++i) {
      EXPECT_EQ(a.curve[i].step, b.curve[i].step);
      EXPECT_EQ(a.curve[i].score.loss, b.curve[i].score.loss);
      EXPECT_EQ(a.curve[i].score.accuracy, b.curve[i].score.accuracy);
      EXPECT_EQ(a.curve[i].score.madAccuracy, b.curve[i].score.madAccuracy);
    }
    EXPECT_EQ(a.final.step, b.final.step);
    EXPECT_EQ(a.final.score.loss, b.final.score.loss);
  }

  FakeSource source{length, classes};
  std::string folder;
};

} // namespace

TEST_P(LockStep, RunsTogetherAreTheRunsAlone) {
  constexpr size_t count = 3;
  std::vector<TrainOutcome> alone;
  std::vector<std::vector<std::vector<std::byte>>> states;
  std::vector<TrainRun> runs;
  for (size_t i = 0; i < count; ++i) {
    Model model = modelOf(1, 1);
    ASSERT_TRUE(model.runner);
    auto outcome = trainModel(*model.runner, source, optionsOf(i));
    ASSERT_TRUE(outcome) << outcome.error().message;
    alone.push_back(*outcome);
    states.push_back(stateOf(*model.runner, 0));
    runs.push_back({&source, optionsOf(i)});
  }
  EXPECT_NE(states[0], states[1]);
  for (int64_t longest : {1, 4}) {
    Model model = modelOf(count, longest);
    ASSERT_TRUE(model.runner);
    auto outcomes = trainModels(*model.runner, runs);
    ASSERT_TRUE(outcomes) << outcomes.error().message;
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE((*outcomes)[i]) << (*outcomes)[i].error().message;
      expectSame(*(*outcomes)[i], alone[i]);
      EXPECT_EQ(stateOf(*model.runner, static_cast<int64_t>(i)), states[i]) << "replica " << i;
    }
  }
}

TEST_P(LockStep, BurstsAndResumingChangeNothing) {
  Model model = modelOf(1, 1);
  ASSERT_TRUE(model.runner);
  auto whole = trainModel(*model.runner, source, optionsOf(0));
  ASSERT_TRUE(whole) << whole.error().message;
  const auto state = stateOf(*model.runner, 0);
  for (int64_t longest : {3, 100}) {
    TrainOptions options = optionsOf(0);
    Stopper stopper;
    options.observer = &stopper;
    options.out = folder + "/run" + std::to_string(longest);
    for (int64_t questions : {2, 3, -1}) {
      model = modelOf(1, longest);
      ASSERT_TRUE(model.runner);
      stopper.questions = questions;
      auto outcome = trainModel(*model.runner, source, options);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_EQ(outcome->interrupted.empty(), questions < 0);
      if (questions < 0)
        expectSame(*outcome, *whole);
      options.resume = true;
    }
    EXPECT_EQ(stateOf(*model.runner, 0), state);
  }
}

TEST_P(LockStep, WhoOrdersAFiniteSetChangesNothing) {
  constexpr size_t count = 2;
  std::vector<TrainOutcome> alone;
  std::vector<std::vector<std::vector<std::byte>>> states;
  for (size_t i = 0; i < count; ++i) {
    const ShuffledSource host(i, /*tells=*/false);
    Model model = modelOf(1, 1);
    ASSERT_TRUE(model.runner);
    auto outcome = trainModel(*model.runner, host, optionsOf(0));
    ASSERT_TRUE(outcome) << outcome.error().message;
    alone.push_back(*outcome);
    states.push_back(stateOf(*model.runner, 0));
    EXPECT_EQ(host.drawn, 2 * 15);
  }
  EXPECT_NE(states[0], states[1]); // only the order differs
  for (int64_t longest : {1, 4, 100}) {
    const ShuffledSource sources[] = {{0, /*tells=*/true}, {1, /*tells=*/true}};
    Model model = modelOf(count, longest);
    ASSERT_TRUE(model.runner);
    const TrainRun runs[] = {{&sources[0], optionsOf(0)}, {&sources[1], optionsOf(0)}};
    auto outcomes = trainModels(*model.runner, runs);
    ASSERT_TRUE(outcomes) << outcomes.error().message;
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE((*outcomes)[i]) << (*outcomes)[i].error().message;
      expectSame(*(*outcomes)[i], alone[i]);
      EXPECT_EQ(stateOf(*model.runner, static_cast<int64_t>(i)), states[i]) << "replica " << i;
      EXPECT_EQ(sources[i].drawn, model.session->isAsynchronous() ? 0 : 2 * 15);
    }
    model = modelOf(1, longest);
    ASSERT_TRUE(model.runner);
    TrainOptions options = optionsOf(0);
    Stopper stopper;
    options.observer = &stopper;
    options.out = folder + "/held" + std::to_string(longest);
    for (int64_t questions : {2, 3, -1}) {
      stopper.questions = questions;
      auto outcome = trainModel(*model.runner, sources[0], options);
      ASSERT_TRUE(outcome) << outcome.error().message;
      if (questions < 0)
        expectSame(*outcome, alone[0]);
      options.resume = true;
    }
    EXPECT_EQ(stateOf(*model.runner, 0), states[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, LockStep,
    testing::Values(Case{"mad/attention-swiglu.hyb", "--set width=16 --set heads=2 --set inner=24"},
                    Case{"mad/hyena-swiglu.hyb", "--set width=16 --set inner=24"},
                    Case{"mad/mamba.hyb", "--set width=16"}));
