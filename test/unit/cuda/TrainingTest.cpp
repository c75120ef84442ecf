//===- TrainingTest.cpp - the trainer on a GPU, with the tests' driver ------===//
#include "executable/SessionMemory.h"
#include "runtime/files/File.h"
#include "test/unit/runtime/TestExecutable.h"
#include "test/unit/training/FakeModel.h"
#include "training/SessionRunner.h"
#include "training/Trainer.h"
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace hybrid;
using namespace hybrid::rt;
using namespace hybrid::rt::test;
using enum fb::Space;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The table of RuntimeImage.cu.
ExecutableSpec tableExecutable(std::vector<uint8_t> image, uint32_t replicas) {
  ExecutableSpec spec;
  spec.parameters = {{"table", {5, 5}, fb::DType::F32, 0}};
  spec.parameterBytes = 128;
  spec.arenaBytes = 1280;
  spec.replicas = replicas;
  auto tokens = at(Arena, 0, 128), targets = at(Arena, 128, 128), logits = at(Arena, 512, 640),
       loss = at(Arena, 256, 4), weight = at(Arena, 320, 4), correct = at(Arena, 384, 4);
  auto stateOf = [](fb::Space space) { return at(space, 0, 100); };
  std::vector<TensorSpec> inputs = {{"targets", {4, 8}, fb::DType::I32, targets},
                                    {"tokens", {4, 8}, fb::DType::I32, tokens}};
  std::vector<TensorSpec> outputs = {{"correct", {}, fb::DType::F32, correct},
                                     {"loss", {}, fb::DType::F32, loss},
                                     {"weight", {}, fb::DType::F32, weight}};
  std::vector<TensorSpec> evaluated = outputs;
  evaluated.push_back({"logits", {4, 8, 5}, fb::DType::F32, logits});
  spec.programs = {
      {"eval",
       inputs,
       evaluated,
       {{"table_eval",
         1,
         {stateOf(Parameters), tokens, targets, logits, loss, weight, correct},
         0,
         {},
         "loss",
         "table.hyb:2:1"}},
       1280},
      {"init",
       {{"seed", {2}, fb::DType::I32, at(Arena, 0, 8)}},
       {},
       {{"table_init", 1, {at(Arena, 0, 8), stateOf(Parameters)}}},
       64},
      {"train",
       inputs,
       outputs,
       {{"table_train",
         1,
         {stateOf(Parameters), tokens, targets, stateOf(Gradients), loss, weight, correct},
         0,
         {},
         "loss",
         "table.hyb:2:1"}},
       1280},
      {"update",
       {{"hyper", {8}, fb::DType::F64, at(Arena, 0, 64)}},
       {{"gradient_norm", {}, fb::DType::F32, at(Arena, 64, 4)}},
       {{"table_update",
         1,
         {at(Arena, 0, 64), stateOf(Parameters), stateOf(Gradients), stateOf(Moment1),
          stateOf(Moment2), at(Arena, 64, 4)}}},
       128}};
  spec.examples = GatherSpec{.symbol = replicas == 4 ? "gather_each" : "gather"};
  return onCuda(spec, std::move(image));
}

/// FakeSource, as it is or its first `size` instances in the order of `seed`, with one instance
/// that makes the loss no number. It counts what it is asked for.
class TestSource final : public Source {
public:
  explicit TestSource(uint64_t size = 0, uint64_t seed = 0) : size(size), seed(seed) {}

  int64_t vocabulary() const override { return inner.vocabulary(); }
  int64_t positions() const override { return inner.positions(); }
  uint64_t epochExamples() const override { return inner.epochExamples(); }
  uint64_t testExamples() const override { return inner.testExamples(); }
  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    ++drawn;
    write(size ? shuffledExample(number, size, seed) : number, inputs, targets);
  }
  ShuffledSet shuffledSet() const override { return {tellsOfSet ? size : 0, seed}; }
  void example(uint64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) const override {
    ++uploaded;
    write(i, inputs, targets);
  }
  void test(uint64_t i, uint64_t count, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    inner.test(i, count, inputs, targets);
  }
  json describe() const override { return inner.describe(); }
  std::string shortName() const override { return "test"; }

  uint64_t poisoned = UINT64_MAX, size, seed;
  bool tellsOfSet = true;
  mutable std::atomic<uint64_t> drawn = 0, uploaded = 0; // by their numbers, as examples of the set

private:
  void write(uint64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) const {
    inner.train(i, inputs, targets);
    if (i == poisoned)
      inputs[0] = 7;
  }
  FakeSource inner{8, 5};
};

class CudaTraining : public testing::Test {
protected:
  struct Model {
    std::unique_ptr<Session> session;
    std::unique_ptr<StepRunner> runner;
  };
  void SetUp() override {
    setenv("HYBRID_CUDA_DRIVER", HYBRID_SHIM_DRIVER, 1);
    setenv("HYBRID_CUBLASLT", HYBRID_SHIM_DRIVER, 1);
    std::string pattern = testing::TempDir() + "cuda-training-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    options.quiet = true;
    options.steps = 130;
    options.schedule.base = 0.05;
    options.reportEvery = 7;
    options.evalEvery = 100;
    options.checkpointEvery = 50;
    options.evalExamples = 20;
    options.finalExamples = 30;
    options.observer = &stopper;
  }
  void TearDown() override { fs::remove_all(folder); }

  Model modelOf(int64_t longestBurst, uint32_t replicas = 1, uint64_t memoryBudget = 0) {
    auto bytes = readFile(HYBRID_RUNTIME_IMAGE, 1 << 24);
    if (!bytes)
      return {};
    const auto *data = reinterpret_cast<const uint8_t *>(bytes->data());
    ExecutableSpec spec = tableExecutable({data, data + bytes->size()}, replicas);
    spec.memoryBudget = memoryBudget;
    auto executable = loaded(spec);
    auto session = Session::create(executable, {});
    if (!session) {
      ADD_FAILURE() << session.error().message;
      return {};
    }
    auto runner = makeSessionRunner(**session, true, longestBurst);
    if (!runner) {
      ADD_FAILURE() << runner.error().message;
      return {};
    }
    EXPECT_EQ((*runner)->burstSteps(), longestBurst);
    return {std::move(*session), std::move(*runner)};
  }
  /// Whether the device holds a set of so many examples, of 64 bytes each.
  bool holds(Model &model, uint64_t size) {
    Examples examples;
    if (size > 0)
      examples.sets = {
          {size, [&](uint64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) {
             source.example(i, inputs, targets);
           }}};
    examples.orders = {{0, 1}};
    auto held = model.runner->holdExamples(examples);
    return held && *held;
  }
  Result<TrainOutcome> run(const std::string &name, int64_t longestBurst, bool resume = false) {
    Model model = modelOf(longestBurst);
    if (!model.runner)
      return Error{"no model"};
    options.out = folder + "/" + name;
    options.resume = resume;
    return trainModel(*model.runner, source, options);
  }
  std::string read(const std::string &name) {
    std::ifstream file(folder + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
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
  void expectSameRun(const std::string &a, const std::string &b, int64_t steps = 130) {
    const std::string last = "/checkpoints/" + checkpointName(steps);
    EXPECT_FALSE(read(a + last).empty());
    EXPECT_EQ(read(a + last), read(b + last));
    EXPECT_EQ(read(a + "/checkpoints/best.safetensors"), read(b + "/checkpoints/best.safetensors"));
    EXPECT_EQ(metrics(a), metrics(b));
  }

  /// Asks to stop after so many of its questions, which are put between bursts.
  struct Stopper final : TrainObserver {
    bool wantsStop() override { return --questions == 0; }
    int64_t questions = -1;
  } stopper;
  TrainOptions options;
  TestSource source;
  std::string folder;
};

TEST_F(CudaTraining, BurstsOfEverySizeLeaveTheSameBytes) {
  auto whole = run("whole", 1);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_LT(whole->final.score.loss, 0.5);
  for (int64_t longest : {3, 100}) {
    std::string name = "bursts" + std::to_string(longest);
    ASSERT_TRUE(run(name, longest));
    expectSameRun("whole", name);
    name += "-parts";
    bool resume = false;
    for (int64_t questions : {1, 4, 3, 5}) { // stopped at some step or other, again and again
      stopper.questions = questions;
      auto outcome = run(name, longest, resume);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_EQ(outcome->interrupted, "observer");
      resume = true;
    }
    ASSERT_TRUE(run(name, longest, true));
    expectSameRun("whole", name);
  }
}

TEST_F(CudaTraining, AStepThatGoesWrongInABurstIsFound) {
  source.poisoned = 87 * 4 + 2; // the third row of step 88
  for (int64_t longest : {1, 100}) {
    std::string name = "wrong" + std::to_string(longest);
    auto outcome = run(name, longest);
    ASSERT_FALSE(outcome);
    for (const char *part :
         {"step 88:", "nan", "came from loss at table.hyb:2:1", "step-00000050.safetensors"})
      EXPECT_NE(outcome.error().message.find(part), std::string::npos) << outcome.error().message;
    EXPECT_EQ(metrics(name).back()["step"], 84);
  }
}

TEST_F(CudaTraining, RunsTogetherAreTheRunsAlone) {
  std::vector<TrainRun> runs;
  const double rates[] = {0.05, 0.02, 0.1};
  for (size_t i = 0; i < 3; ++i) {
    options.seed = i;
    options.schedule.base = rates[i];
    options.weightDecay = 0.1 * static_cast<double>(i);
    options.steps = i == 1 ? 80 : 130;
    std::string name = "alone" + std::to_string(i);
    ASSERT_TRUE(run(name, 100));
    options.out = folder + "/together" + std::to_string(i);
    runs.push_back({&source, options});
  }
  Model model = modelOf(100, 4);
  ASSERT_TRUE(model.runner);
  auto outcomes = trainModels(*model.runner, runs);
  ASSERT_TRUE(outcomes) << outcomes.error().message;
  // A checkpoint names the executable, which is another one: only its tensors are the same.
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE((*outcomes)[i]) << (*outcomes)[i].error().message;
    std::string alone = "alone" + std::to_string(i), together = "together" + std::to_string(i);
    EXPECT_EQ(metrics(alone), metrics(together));
    const std::string last = "/checkpoints/" + checkpointName(runs[i].options.steps);
    Model reader = modelOf(1);
    ASSERT_TRUE(loadCheckpoint(folder + "/" + alone + last, *reader.runner));
    std::vector<StateTensor> expected = reader.runner->state(),
                             mine = model.runner->state(static_cast<int64_t>(i));
    for (size_t tensor = 0; tensor < expected.size(); ++tensor)
      EXPECT_EQ(std::memcmp(expected[tensor].data.data(), mine[tensor].data.data(),
                            mine[tensor].data.size()),
                0)
          << mine[tensor].name;
  }
}

TEST_F(CudaTraining, ExamplesOnTheDeviceComeInTheOrderOfTheHost) {
  for (uint64_t size : {1, 3, 37, 256, 520}) { // less than a batch, epochs that end inside of one
    const std::string number = std::to_string(size);
    source.size = size;
    source.seed = options.seed = 100 + size;
    source.tellsOfSet = false;
    ASSERT_TRUE(run("host" + number, 1));
    EXPECT_EQ(source.drawn.exchange(0), 4u * 130);
    EXPECT_EQ(source.uploaded, 0u);
    source.tellsOfSet = true;
    for (int64_t longest : {1, 3, 100}) {
      const std::string name = "device" + number + "-" + std::to_string(longest);
      ASSERT_TRUE(run(name, longest));
      EXPECT_EQ(source.drawn, 0u);
      EXPECT_EQ(source.uploaded.exchange(0), size);
      expectSameRun("host" + number, name);
    }
  }
}

TEST_F(CudaTraining, RunsOnHeldExamplesStopAndResume) {
  source.size = 37;
  source.seed = 5;
  source.tellsOfSet = false;
  ASSERT_TRUE(run("host", 1));
  source.tellsOfSet = true;
  for (int64_t longest : {3, 100}) {
    const std::string name = "parts" + std::to_string(longest);
    source.drawn = 0;
    bool resume = false;
    for (int64_t questions : {1, 4, 3, 5}) { // in the middle of an epoch as well
      stopper.questions = questions;
      auto outcome = run(name, longest, resume);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_EQ(outcome->interrupted, "observer");
      resume = true;
    }
    EXPECT_EQ(source.drawn, 0u);
    ASSERT_TRUE(run(name, longest, true)); // too few steps are left to read the whole set
    expectSameRun("host", name);
  }
}

TEST_F(CudaTraining, ASetThatIsNotReadToItsEndStaysOnTheHost) {
  source.size = 521;
  ASSERT_TRUE(run("part", 100));
  EXPECT_EQ(source.uploaded, 0u);
  EXPECT_EQ(source.drawn, 4u * 130);
}

TEST_F(CudaTraining, AHeldExampleThatGoesWrongIsFound) {
  source.size = 500;
  source.poisoned = shuffledExample(87 * 4 + 2, 500, 0);
  std::string expected;
  for (int64_t longest : {1, 100}) {
    for (bool tells : {false, true}) {
      source.tellsOfSet = tells;
      auto outcome = run("wrong" + std::to_string(longest) + (tells ? "held" : ""), longest);
      ASSERT_FALSE(outcome);
      for (const char *part : {"step 88:", "nan", "came from loss at table.hyb:2:1"})
        EXPECT_NE(outcome.error().message.find(part), std::string::npos) << outcome.error().message;
    }
    EXPECT_EQ(source.uploaded.exchange(0), 500u);
  }
}

TEST_F(CudaTraining, RunsTogetherTakeEachItsOrderOfTheSameSet) {
  const TestSource sources[] = {TestSource(37, 3), TestSource(37, 4), TestSource(37, 5)};
  std::vector<TrainRun> runs;
  std::vector<std::vector<std::vector<std::byte>>> expected;
  auto stateOf = [](StepRunner &runner, int64_t replica) {
    std::vector<std::vector<std::byte>> state;
    for (const StateTensor &tensor : runner.state(replica))
      state.emplace_back(tensor.data.begin(), tensor.data.end());
    return state;
  };
  for (size_t i = 0; i < 3; ++i) {
    options.seed = 7; // the same parameters: only the order differs
    options.steps = i == 1 ? 80 : 130;
    options.out = "";
    Model model = modelOf(1);
    ASSERT_TRUE(model.runner);
    ASSERT_TRUE(trainModel(*model.runner, sources[i], options));
    expected.push_back(stateOf(*model.runner, 0));
    runs.push_back({&sources[i], options});
    sources[i].uploaded = 0;
  }
  EXPECT_NE(expected[0], expected[2]);
  for (int64_t longest : {3, 100}) {
    Model model = modelOf(longest, 4);
    ASSERT_TRUE(model.runner);
    auto outcomes = trainModels(*model.runner, runs);
    ASSERT_TRUE(outcomes) << outcomes.error().message;
    for (size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE((*outcomes)[i]) << (*outcomes)[i].error().message;
      EXPECT_EQ(stateOf(*model.runner, static_cast<int64_t>(i)), expected[i]) << i;
      EXPECT_EQ(sources[i].drawn, 0u);
      EXPECT_EQ(sources[i].uploaded.exchange(0), i == 0 ? 37u : 0u) << "one set for all";
    }
  }
}

TEST_F(CudaTraining, ADeviceHoldsWhatFits) {
  Model model = modelOf(3);
  ASSERT_TRUE(model.runner);
  const uint64_t before = model.session->allocatedBytes();
  auto hold = [&](uint64_t size) { return holds(model, size); };
  EXPECT_FALSE(hold(0));
  EXPECT_FALSE(model.runner->takeExamples(0, 0, 0));
  EXPECT_FALSE(hold(uint64_t(1) << 40));
  EXPECT_FALSE(hold(((uint64_t(256) << 20) / 64) + 1));
  EXPECT_EQ(source.uploaded, 0u);
  EXPECT_TRUE(hold(100000)); // in pieces
  EXPECT_EQ(source.uploaded, 100000u);
  EXPECT_GE(model.session->allocatedBytes(), before + 6400000);
  EXPECT_TRUE(model.runner->takeExamples(0, 2, 0));
  EXPECT_FALSE(model.session->takeExamples(0, 3, 0)) << "no such step";
  EXPECT_FALSE(model.session->takeExamples(1, 0, 0)) << "no such replica";
  EXPECT_FALSE(hold(0));
  EXPECT_LT(model.session->allocatedBytes(), before + 4096);
}

TEST_F(CudaTraining, TakesTheMemoryThatIsTold) {
  source.size = 37;
  for (bool tells : {false, true}) {
    source.tellsOfSet = tells;
    for (uint32_t replicas : {1u, 3u}) {
      Model model = modelOf(20, replicas);
      ASSERT_TRUE(model.runner);
      std::vector<TrainRun> runs(replicas, {&source, options});
      for (TrainRun &each : runs)
        each.options.out.clear();
      ASSERT_TRUE(trainModels(*model.runner, runs));
      const fb::Executable &format = model.session->executable().format();
      SessionUse use = SessionUse::toTrain(format);
      use.steps = 20;
      use.heldBytes = tells ? 37 * 64 : 0;
      const SessionMemory told = memoryOf(format, use);
      EXPECT_EQ(told.steps, 20u);
      EXPECT_GT(told.tables, 0u);
      // Sets begin at multiples of 256 bytes.
      EXPECT_EQ(model.session->allocatedBytes(),
                told.total() + (tells ? (256 - 37 * 64 % 256) : 0));
    }
  }
}

TEST_F(CudaTraining, WithinABudgetADeviceHoldsWhatIsLeft) {
  Model model = modelOf(3);
  ASSERT_TRUE(model.runner);
  SessionUse use = SessionUse::toTrain(model.session->executable().format());
  use.steps = 3;
  const uint64_t needed = memoryOf(model.session->executable().format(), use).total();
  model = modelOf(3, 1, needed + 100000);
  ASSERT_TRUE(model.runner);
  EXPECT_TRUE(holds(model, 1500));
  EXPECT_FALSE(holds(model, 1600));
}

} // namespace
