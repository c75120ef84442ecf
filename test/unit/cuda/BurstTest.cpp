//===- BurstTest.cpp - steps and replicas that run as one graph ----------------===//
#include "executable/SessionMemory.h"
#include "test/unit/cuda/CudaSession.h"
#include <array>
#include <cstring>
#include <deque>

using namespace hybrid;
using namespace hybrid::rt;
using namespace hybrid::rt::test;
using enum fb::Space;

namespace {

TEST_F(CudaSession, TrainsAheadOfTheHost) {
  auto ahead = sessionOf(trainingExecutable(image())),
       behind = sessionOf(trainingExecutable(image()));
  ASSERT_TRUE(ahead && behind);
  EXPECT_TRUE(ahead->isAsynchronous());
  EXPECT_RUNS(ahead->initialize(3));
  EXPECT_RUNS(behind->initialize(3));
  const std::string_view programs[] = {"train", "update"};
  int finished = 0;
  auto finish = [&] {
    EXPECT_RUNS(ahead->finish());
    float loss = 0;
    std::memcpy(&loss, ahead->output("train", "loss").data(), 4);
    EXPECT_EQ(loss, 2 * static_cast<float>(finished)) << "of the step that was waited for";
    ++finished;
  };
  constexpr int steps = 7;
  for (int step = 0; step < steps; ++step) {
    for (Session *session : {ahead.get(), behind.get()})
      fill(session->inputAs<float>("train", "x"), static_cast<float>(step));
    EXPECT_RUNS(behind->run("train"));
    for (Session *session : {ahead.get(), behind.get()})
      session->inputAs<double>("update", "hyper")[0] = 0.25 * (step + 1);
    EXPECT_RUNS(behind->run("update"));
    if (step - finished == Session::mostStarted)
      finish();
    EXPECT_RUNS(ahead->start(programs));
  }
  EXPECT_FALSE(ahead->start(programs)) << "more than may be on their way";
  while (finished < steps)
    finish();
  EXPECT_FALSE(ahead->finish());
  for (auto slot : {Session::Slot::Parameter, Session::Slot::Gradient, Session::Slot::Moment1}) {
    auto a = ahead->parameter(0, slot), b = behind->parameter(0, slot);
    ASSERT_EQ(a.size(), 64u);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size()), 0);
  }
}

TEST_F(CudaSession, ABurstIsItsStepsOneByOne) {
  auto bursts = sessionOf(trainingExecutable(image())),
       single = sessionOf(trainingExecutable(image()));
  ASSERT_TRUE(bursts && single);
  for (Session *session : {bursts.get(), single.get()})
    EXPECT_RUNS(session->initialize(3));
  const std::string_view programs[] = {"train", "update"};
  EXPECT_FALSE(bursts->start(programs, 2)) << "no room was made";
  auto most = bursts->reserveSteps(programs, 12);
  ASSERT_TRUE(most) << most.error().message;
  ASSERT_EQ(*most, 12);
  EXPECT_TRUE(bursts->input("train", "x", 0, 12).empty());
  std::deque<std::pair<int64_t, int64_t>> onTheirWay; // first step, steps
  auto finish = [&] {
    auto [first, steps] = onTheirWay.front();
    onTheirWay.pop_front();
    EXPECT_RUNS(bursts->finish());
    for (int64_t step = 0; step < steps; ++step) {
      auto loss = bursts->outputAs<float>("train", "loss", 0, step);
      ASSERT_EQ(loss.size(), 1u);
      EXPECT_EQ(loss[0], 2 * static_cast<float>(first + step));
    }
    EXPECT_TRUE(bursts->output("train", "loss", 0, steps).empty());
  };
  // One by one, captured, replayed; more sizes than graphs are kept; and bursts of one step.
  int64_t done = 0;
  for (int64_t steps :
       {3, 3, 3, 1, 1, 1, 12, 12, 2, 2, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 3, 12, 3}) {
    if (onTheirWay.size() == Session::mostStarted)
      finish();
    for (int64_t step = 0; step < steps; ++step) {
      auto first = static_cast<float>(done + step);
      double rate = 0.25 / static_cast<double>(done + step + 1);
      fill(bursts->inputAs<float>("train", "x", 0, step), first);
      bursts->inputAs<double>("update", "hyper", 0, step)[0] = rate;
      fill(single->inputAs<float>("train", "x"), first);
      EXPECT_RUNS(single->run("train"));
      single->inputAs<double>("update", "hyper")[0] = rate;
      EXPECT_RUNS(single->run("update"));
    }
    EXPECT_RUNS(bursts->start(programs, steps));
    onTheirWay.emplace_back(done, steps);
    done += steps;
  }
  EXPECT_FALSE(bursts->start(programs, 13));
  while (!onTheirWay.empty())
    finish();
  EXPECT_FALSE(bursts->finish());
  for (auto slot : {Session::Slot::Parameter, Session::Slot::Gradient, Session::Slot::Moment1}) {
    auto a = bursts->parameter(0, slot), b = single->parameter(0, slot);
    ASSERT_EQ(a.size(), 64u);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size()), 0);
  }
}

TEST_F(CudaSession, TheTablesOfABurstAreBounded) {
  ExecutableSpec spec = trainingExecutable(image());
  ProgramSpec &train = spec.program("train");
  spec.arenaBytes = train.arenaBytes = 5 << 20;
  train.inputs[0] = {"x", {1 << 20}, fb::DType::F32, at(Arena, 0, 4 << 20)};
  train.outputs[0].buffer = at(Arena, 4 << 20, 4);
  train.steps[0].buffers = {at(Arena, 0, 64), at(Gradients, 0, 80), at(Arena, 4 << 20, 4)};
  auto session = sessionOf(spec);
  ASSERT_TRUE(session);
  const std::string_view programs[] = {"train", "update"};
  auto most = session->reserveSteps(programs, 128);
  ASSERT_TRUE(most);
  EXPECT_EQ(*most, 16) << "64 MiB of inputs";
  most = session->reserveSteps(programs, 3);
  ASSERT_TRUE(most);
  EXPECT_EQ(*most, 3);
  // By what the executable may allocate.
  auto use = SessionUse::toTrain(session->executable().format());
  EXPECT_EQ(memoryOf(session->executable().format(), use).steps, 16u);
  use.steps = 5;
  spec.memoryBudget = memoryOf(session->executable().format(), use).total() + 1000;
  session = sessionOf(spec);
  ASSERT_TRUE(session);
  most = session->reserveSteps(programs, 128);
  ASSERT_TRUE(most);
  EXPECT_EQ(*most, 5);
  spec.memoryBudget = 1;
  session = sessionOf(spec);
  ASSERT_TRUE(session);
  most = session->reserveSteps(programs, 128);
  ASSERT_TRUE(most);
  EXPECT_EQ(*most, 1) << "as short as can be";
}

/// For several replicas: kernels that are.
ExecutableSpec replicated(ExecutableSpec spec, uint32_t replicas) {
  spec.replicas = replicas;
  auto rename = [](StepSpec &step) {
    if (!step.symbol.empty() && step.symbol != "fill_table")
      step.symbol += step.rowBytes.empty() ? "_each" : "_tile_each";
  };
  for (ProgramSpec &program : spec.programs)
    for (StepSpec &step : program.steps) {
      rename(step);
      if (step.loop)
        for (StepSpec &inner : step.loop->steps)
          rename(inner);
    }
  return spec;
}

TEST_F(CudaSession, ReplicasAreSessionsOfOne) {
  constexpr size_t count = 3;
  for (bool tiled : {false, true}) {
    ExecutableSpec spec = tiled ? onCuda(tiledExecutable(), image()) : sound();
    auto together = sessionOf(replicated(spec, count));
    ASSERT_TRUE(together);
    std::vector<std::unique_ptr<Session>> alone;
    const std::array<uint64_t, count> seeds{5, uint64_t(7) << 32 | 1, uint64_t(2) << 32 | 1};
    EXPECT_RUNS(together->initialize(seeds));
    for (uint64_t seed : seeds) {
      alone.push_back(sessionOf(spec));
      ASSERT_TRUE(alone.back());
      EXPECT_RUNS(alone.back()->initialize(seed));
    }
    for (const char *program : {"forward", "product"})
      for (int run = 0; run < 3; ++run) {
        for (size_t r = 0; r < count; ++r) {
          const auto first = static_cast<float>(100 * run + 10 * static_cast<int>(r));
          fill(together->inputAs<float>(program, "x", static_cast<int64_t>(r)), first);
          fill(alone[r]->inputAs<float>(program, "x"), first);
          EXPECT_RUNS(alone[r]->run(program));
        }
        EXPECT_RUNS(together->run(program));
        for (size_t r = 0; r < count; ++r) {
          auto a = together->outputAs<float>(program, "y", static_cast<int64_t>(r)),
               b = alone[r]->outputAs<float>(program, "y");
          ASSERT_EQ(a.size(), 16u);
          EXPECT_EQ(std::memcmp(a.data(), b.data(), 64), 0) << program << " of replica " << r;
        }
      }
    EXPECT_EQ(together->outputAs<float>("forward", "z", 2).size(), 16u);
  }
}

TEST_F(CudaSession, ProductsInBatchesOfReplicas) {
  ExecutableSpec spec = sound();
  for (int form = 0; form < 8; ++form) { // one product of 4 x 4 x 4, or two of 2 x 4 x 4 in a batch
    const bool batch = form & 1, bias = form & 2, addend = form & 4;
    MatmulSpec &product = *spec.program("product").steps[0].matmul;
    product.m = batch ? 2 : 4, product.batch = batch ? 2 : 1;
    product.batchStrideA = product.batchStrideC = product.batchStrideAddend = batch ? 8 : 0;
    product.bias = bias ? std::optional(at(Parameters, 64, 16)) : std::nullopt;
    product.addend = addend ? std::optional(at(Arena, 0, 64)) : std::nullopt;
    product.ldAddend = 4;
    auto together = sessionOf(replicated(spec, 2));
    ASSERT_TRUE(together);
    const std::array<uint64_t, 2> seeds{uint64_t(7) << 32 | 1, uint64_t(2) << 32 | 3};
    EXPECT_RUNS(together->initialize(seeds));
    for (int64_t r = 0; r < 2; ++r)
      fill(together->inputAs<float>("product", "x", r), static_cast<float>(r));
    EXPECT_RUNS(together->run("product"));
    for (int64_t r = 0; r < 2; ++r) {
      auto alone = sessionOf(spec);
      ASSERT_TRUE(alone);
      EXPECT_RUNS(alone->initialize(seeds[static_cast<size_t>(r)]));
      fill(alone->inputAs<float>("product", "x"), static_cast<float>(r));
      EXPECT_RUNS(alone->run("product"));
      auto a = together->output("product", "y", r), b = alone->output("product", "y");
      ASSERT_EQ(a.size(), 64u);
      EXPECT_EQ(std::memcmp(a.data(), b.data(), 64), 0) << "replica " << r;
    }
  }
}

TEST_F(CudaSession, BurstsOfReplicasAreSessionsOfOne) {
  constexpr int64_t count = 3, steps = 4;
  ExecutableSpec spec = trainingExecutable(image());
  auto together = sessionOf(replicated(spec, count));
  ASSERT_TRUE(together);
  EXPECT_RUNS(together->initialize(3));
  const std::string_view programs[] = {"train", "update"};
  ASSERT_TRUE(together->reserveSteps(programs, steps));
  std::vector<std::unique_ptr<Session>> alone;
  for (int64_t r = 0; r < count; ++r) {
    alone.push_back(sessionOf(spec));
    ASSERT_TRUE(alone.back());
    EXPECT_RUNS(alone.back()->initialize(3));
  }
  auto compare = [&](int burst) {
    for (int64_t r = 0; r < count; ++r)
      for (auto slot :
           {Session::Slot::Parameter, Session::Slot::Gradient, Session::Slot::Moment1}) {
        auto a = together->parameter(0, slot, r),
             b = alone[static_cast<size_t>(r)]->parameter(0, slot);
        ASSERT_EQ(a.size(), 64u);
        EXPECT_EQ(std::memcmp(a.data(), b.data(), 64), 0) << "replica " << r << ", burst " << burst;
      }
  };
  for (int burst = 0; burst < 7; ++burst) {
    const int64_t resting = burst == 2 || burst == 3 ? 1 : burst == 5 ? 0 : -1;
    for (int64_t r = 0; r < count; ++r)
      EXPECT_RUNS(together->setActive(r, r != resting));
    for (int64_t r = 0; r < count; ++r)
      for (int64_t step = 0; step < steps; ++step) {
        const auto first = static_cast<float>(100 * r + 10 * step + burst);
        fill(together->inputAs<float>("train", "x", r, step), first);
        together->inputAs<double>("update", "hyper", r, step)[0] =
            0.125 * static_cast<double>(r + 1);
        if (r == resting)
          continue;
        Session &session = *alone[static_cast<size_t>(r)];
        fill(session.inputAs<float>("train", "x"), first);
        EXPECT_RUNS(session.run("train"));
        session.inputAs<double>("update", "hyper")[0] = 0.125 * static_cast<double>(r + 1);
        EXPECT_RUNS(session.run("update"));
      }
    EXPECT_RUNS(together->start(programs, steps));
    if (burst == 3) { // written while it rests
      EXPECT_RUNS(together->setParameter(0, together->parameter(0, Session::Slot::Parameter, 2),
                                         Session::Slot::Parameter, 1));
      EXPECT_RUNS(alone[1]->setParameter(0, alone[2]->parameter(0)));
    }
    EXPECT_RUNS(together->finish());
    for (int64_t r = 0; r < count; ++r)
      for (int64_t step = 0; step < steps && r != resting; ++step) {
        auto loss = together->outputAs<float>("train", "loss", r, step);
        ASSERT_EQ(loss.size(), 1u);
        EXPECT_EQ(loss[0], 2 * static_cast<float>(100 * r + 10 * step + burst));
      }
    compare(burst);
  }
}

} // namespace
