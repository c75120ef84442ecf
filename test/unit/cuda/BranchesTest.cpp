//===- BranchesTest.cpp - steps that may run at the same time ------------------===//
#include "runtime/cuda/Branches.h"
#include "executable/SessionMemory.h"
#include "test/unit/cuda/CudaSession.h"

using namespace hybrid;
using namespace hybrid::rt;
using namespace hybrid::rt::cuda;
using namespace hybrid::rt::test;
using enum fb::Space;

namespace {

const auto x = at(Arena, 0, 64), a = at(Arena, 64, 64), b = at(Arena, 128, 64),
           c = at(Arena, 192, 64), d = at(Arena, 256, 64), e = at(Arena, 320, 64);

StepSpec addOne(const fb::BufferRef &from, const fb::BufferRef &to, uint8_t branch = 0,
                std::vector<uint32_t> after = {}) {
  StepSpec step{"add_one", 16, {from, to}};
  step.branch = branch, step.after = std::move(after);
  return step;
}

/// Its program `branched` adds 1 to x along two branches, and writes at the end where one of them
/// has read.
ExecutableSpec branchedExecutable(std::vector<uint8_t> image) {
  ExecutableSpec spec = soundExecutable();
  auto tensor = [](const char *name, fb::BufferRef place) {
    return TensorSpec{name, {16}, fb::DType::F32, place};
  };
  ProgramSpec program{"branched",
                      {tensor("x", x)},
                      {tensor("a", a), tensor("b", b), tensor("e", e)},
                      {addOne(x, a), addOne(a, b), addOne(a, c, 1, {0}), addOne(c, d, 1),
                       addOne(d, e, 0, {3}), addOne(e, a)},
                      512};
  spec.programs.insert(spec.programs.begin(), program); // in the order of names
  spec = onCuda(std::move(spec), std::move(image));
  spec.describeKernels();
  return spec;
}

TEST_F(CudaSession, BranchesGiveTheNumbersOfTheProgramsOrder) {
  auto session = sessionOf(branchedExecutable(image()));
  ASSERT_TRUE(session);
  // One by one, captured, and replays, which the tests' driver runs in other orders.
  for (int run = 0; run < 5; ++run) {
    const auto first = static_cast<float>(100 * run);
    fill(session->inputAs<float>("branched", "x"), first);
    EXPECT_RUNS(session->run("branched"));
    const std::pair<const char *, float> outputs[] = {{"b", 2}, {"e", 4}, {"a", 5}};
    for (auto [name, added] : outputs) {
      auto values = session->outputAs<float>("branched", name);
      ASSERT_EQ(values.size(), 16u);
      for (size_t i = 0; i < 16; ++i)
        EXPECT_EQ(values[i], first + static_cast<float>(i) + added) << name << " of run " << run;
    }
  }
}

TEST_F(CudaSession, ALeftOutDependenceIsRefused) {
  const std::pair<void (*)(std::vector<StepSpec> &), const char *> changes[] = {
      // A read behind a write, on the other branch and back; by another step than the last.
      {[](auto &steps) { steps[2].after = {}; }, "steps 0 and 2 of program 'branched'"},
      {[](auto &steps) { steps[4].after = {}; }, "steps 3 and 4 of program 'branched'"},
      {[](auto &steps) { steps[4].after = {2}; }, "steps 3 and 4 of program 'branched'"},
      // A write behind a read, and behind a write.
      {[](auto &steps) { steps[4] = addOne(b, a), steps.pop_back(); }, "steps 2 and 4"},
      {[](auto &steps) { steps[4] = addOne(b, d), steps.pop_back(); }, "steps 3 and 4"},
      // A part of the bytes.
      {[](auto &steps) { steps[4] = addOne(at(Arena, 304, 64), e), steps.pop_back(); },
       "steps 3 and 4"},
      // What makes no sense.
      {[](auto &steps) { steps[2].branch = 3; }, "step 2 of program 'branched' is on branch 3"},
      {[](auto &steps) { steps[2].after = {2}; }, "step 2 of program 'branched' waits for step 2"},
      {[](auto &steps) { steps[2].after = {4}; }, "step 2 of program 'branched' waits for step 4"},
      {[](auto &steps) { steps[3].after = {2}; }, "step 3 of program 'branched' waits for step 2"}};
  for (auto [change, text] : changes) {
    ExecutableSpec spec = branchedExecutable({1});
    EXPECT_TRUE(loaded(spec));
    change(spec.program("branched").steps);
    for (StepSpec &step : spec.program("branched").steps)
      step.threads = 32;
    auto refused = Executable::fromBytes(spec.bytes(), "test.hyx");
    ASSERT_FALSE(refused) << text;
    EXPECT_CONTAINS(refused.error().message, text);
  }
}

TEST_F(CudaSession, WhatCannotBeOnABranchIsRefused) {
  auto refusal = [](const ExecutableSpec &spec) {
    auto refused = Executable::fromBytes(spec.bytes(), "test.hyx");
    return refused ? "accepted" : refused.error().message;
  };
  ExecutableSpec spec = branchedExecutable({1});
  spec.major = 2; // says nothing of its kernels
  EXPECT_CONTAINS(refusal(spec), "does not describe kernels");
  spec = branchedExecutable({1});
  spec.device = "cpu", spec.images.clear(), spec.code = testCode();
  EXPECT_CONTAINS(refusal(spec), "which it cannot on a CPU");
  spec = onCuda(tiledExecutable(), {1});
  spec.program("product").steps[0].branch = 1;
  EXPECT_CONTAINS(refusal(spec), "step 0 of program 'product' is on branch 1");
  spec = onCuda(tiledExecutable(), {1});
  spec.program("product").steps[0].loop->steps[1].branch = 1;
  EXPECT_CONTAINS(refusal(spec), "part 1 of step 0 of program 'product' is on a branch");
  spec = onCuda(soundExecutable(), {1});
  spec.programs.insert(spec.programs.begin(), attentionProgram());
  spec.programs.front().steps[0].branch = 1;
  EXPECT_CONTAINS(refusal(spec), "step 0 of program 'attend' is on branch 1");
}

TEST_F(CudaSession, ProductsOfABranchHaveMemoryOfTheirOwn) {
  ExecutableSpec spec = branchedExecutable(image());
  ProgramSpec &program = spec.program("branched");
  StepSpec product = spec.program("product").steps[0]; // of x
  product.matmul->c = c;
  product.branch = 1;
  program.steps = {addOne(x, a),    addOne(a, b),         product,
                   addOne(c, d, 1), addOne(d, e, 0, {3}), addOne(e, a)};
  for (StepSpec &step : program.steps)
    step.threads = 32;
  auto session = sessionOf(spec);
  ASSERT_TRUE(session);
  EXPECT_RUNS(session->initialize(uint64_t(1) << 32 | 1)); // w and b are 1, 2, ... 20
  for (int run = 0; run < 3; ++run) {
    fill(session->inputAs<float>("branched", "x"), 0);
    EXPECT_RUNS(session->run("branched"));
    // (0 1 2 3) times the first column of w, (1 5 9 13), plus 17 and two.
    EXPECT_EQ(session->outputAs<float>("branched", "e")[0], 5 + 18 + 39 + 17 + 2);
  }
  const SessionUse use{.programs = {"setup", "init", "branched"}};
  const SessionMemory told = memoryOf(session->executable().format(), use);
  EXPECT_EQ(told.products, 2 * matrixLibraryBytes);
  EXPECT_EQ(session->allocatedBytes(), told.total());
}

TEST_F(CudaSession, NoLaunchIsMadeReadyWhileAnotherBranchIsAwaited) {
  auto executable = loaded(branchedExecutable({1}));
  auto gpu = Gpu::open();
  ASSERT_TRUE(executable && gpu);
  const fb::Program &program = *executable->format().programs()->Get(0);
  auto branches = Branches::create(**gpu, program);
  ASSERT_TRUE(branches) << branches.error().message;
  ASSERT_TRUE(*branches);
  EXPECT_RUNS((*branches)->part());
  EXPECT_FALSE((*branches)->goesOn(0)) << "another program may have joined its branches";
  EXPECT_FALSE((*branches)->goesOn(1)) << "it waits for the program's begin";
  for (unsigned step = 0; step < 6; ++step) {
    EXPECT_RUNS((*branches)->beforeStep(step));
    const unsigned branch = (*branches)->branchOf(step);
    EXPECT_EQ((*branches)->goesOn(branch), step % 2 == 1) << step;
    (*branches)->given(branch, false);
    EXPECT_RUNS((*branches)->behindStep(step));
  }
  (*branches)->given(0, true); // what ranks do together
  EXPECT_FALSE((*branches)->goesOn(0));
  EXPECT_RUNS((*branches)->join());
  const fb::Program &forward = *executable->format().programs()->Get(1);
  auto none = Branches::create(**gpu, forward);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

} // namespace
