//===- ReplicaTest.cpp - several trainings as one session ---------------------===//
#include "executable/ReplicaStride.h"
#include "executable/SessionMemory.h"
#include "runtime/Device.h"
#include "runtime/Session.h"
#include "test/unit/runtime/TestExecutable.h"
#include <array>
#include <cstring>
#include <gtest/gtest.h>

using namespace hybrid;
using namespace hybrid::rt;
using namespace hybrid::rt::test;
using enum fb::Space;
using Slot = Session::Slot;

namespace {

ExecutableSpec executableOf(uint32_t replicas) {
  ExecutableSpec spec = soundExecutable();
  spec.replicas = replicas;
  return spec;
}

std::unique_ptr<Session> sessionOf(const ExecutableSpec &spec, int threads = 1) {
  auto executable = loaded(spec);
  if (!executable)
    return nullptr;
  auto session = Session::create(executable, {threads});
  if (!session) {
    ADD_FAILURE() << session.error().message;
    return nullptr;
  }
  return std::move(*session);
}

void expectRuns(Session &session, std::string_view program) {
  Result<void> done = session.run(program);
  EXPECT_TRUE(done) << done.error().message;
}

float firstOf(std::span<const std::byte> bytes) {
  float value = 0;
  EXPECT_GE(bytes.size(), sizeof(float));
  if (bytes.size() >= sizeof(float))
    std::memcpy(&value, bytes.data(), sizeof(float));
  return value;
}

/// The gradient of w: `value` everywhere.
void setGradient(Session &session, int64_t replica, float value) {
  std::vector<float> values(16, value);
  auto done = session.setParameter(0, std::as_bytes(std::span(values)), Slot::Gradient, replica);
  EXPECT_TRUE(done) << done.error().message;
}

} // namespace

TEST(Replicas, HaveInputsAndOutputsOfTheirOwn) {
  for (int threads : {1, 2}) {
    auto session = sessionOf(executableOf(3), threads);
    ASSERT_TRUE(session);
    EXPECT_EQ(session->replicas(), 3);
    for (int64_t replica = 0; replica < 3; ++replica) {
      auto x = session->inputAs<float>("forward", "x", replica);
      ASSERT_EQ(x.size(), 16u);
      for (size_t i = 0; i < 16; ++i)
        x[i] = static_cast<float>(100 * replica + static_cast<int64_t>(i));
    }
    expectRuns(*session, "forward");
    for (int64_t replica = 0; replica < 3; ++replica) {
      auto y = session->outputAs<float>("forward", "y", replica);
      auto z = session->outputAs<float>("forward", "z", replica);
      ASSERT_EQ(y.size(), 16u);
      for (size_t i = 0; i < 16; ++i) {
        EXPECT_EQ(y[i], static_cast<float>(100 * replica + static_cast<int64_t>(i) + 1));
        EXPECT_EQ(z[i], static_cast<float>(10 * i)) << "all read one table";
      }
    }
  }
}

TEST(Replicas, TrainAsIfAlone) {
  auto session = sessionOf(executableOf(3));
  ASSERT_TRUE(session);
  const std::array<uint64_t, 3> seeds{5, 7, uint64_t(2) << 32 | 1};
  ASSERT_TRUE(session->initialize(seeds));
  for (int64_t replica = 0; replica < 3; ++replica) {
    setGradient(*session, replica, static_cast<float>(replica + 1));
    session->inputAs<double>("update", "hyper", replica)[0] = 0.5 * static_cast<double>(replica);
  }
  expectRuns(*session, "update");
  for (size_t replica = 0; replica < 3; ++replica) {
    auto alone = sessionOf(executableOf(1));
    ASSERT_TRUE(alone);
    ASSERT_TRUE(alone->initialize(seeds[replica]));
    setGradient(*alone, 0, static_cast<float>(replica + 1));
    alone->inputAs<double>("update", "hyper")[0] = 0.5 * static_cast<double>(replica);
    expectRuns(*alone, "update");
    for (Slot slot : {Slot::Parameter, Slot::Gradient, Slot::Moment1, Slot::Moment2})
      for (size_t index : {0u, 1u}) {
        auto mine = session->parameter(index, slot, static_cast<int64_t>(replica)),
             expected = alone->parameter(index, slot);
        ASSERT_EQ(mine.size(), expected.size());
        EXPECT_EQ(std::memcmp(mine.data(), expected.data(), mine.size()), 0)
            << "replica " << replica << ", parameter " << index;
      }
  }
}

TEST(Replicas, ThatDoNotTakePartKeepWhatTheyHave) {
  auto session = sessionOf(executableOf(3));
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->initialize(4));
  for (int64_t replica = 0; replica < 3; ++replica) {
    setGradient(*session, replica, 1);
    session->inputAs<double>("update", "hyper", replica)[0] = 1;
  }
  ASSERT_TRUE(session->setActive(1, false));
  EXPECT_FALSE(session->isActive(1));
  EXPECT_TRUE(session->isActive(2));
  expectRuns(*session, "update");
  EXPECT_EQ(firstOf(session->parameter(0, Slot::Parameter, 0)), 3);
  EXPECT_EQ(firstOf(session->parameter(0, Slot::Parameter, 1)), 4);
  EXPECT_EQ(firstOf(session->parameter(0, Slot::Parameter, 2)), 3);
  EXPECT_EQ(firstOf(session->parameter(0, Slot::Moment1, 1)), 0);
  // A place that is free is drawn again while the others wait.
  for (int64_t replica : {0, 2})
    ASSERT_TRUE(session->setActive(replica, false));
  ASSERT_TRUE(session->setActive(1, true));
  ASSERT_TRUE(session->initialize(std::array<uint64_t, 3>{70, 80, 90}));
  EXPECT_EQ(firstOf(session->parameter(0, Slot::Parameter, 0)), 3);
  EXPECT_EQ(firstOf(session->parameter(0, Slot::Parameter, 1)), 80);
  EXPECT_EQ(firstOf(session->parameter(0, Slot::Moment1, 0)), 1) << "its moments stay";
}

TEST(Replicas, AreCounted) {
  auto session = sessionOf(executableOf(2));
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->input("forward", "x", 2).empty());
  EXPECT_TRUE(session->input("forward", "x", -1).empty());
  EXPECT_TRUE(session->output("forward", "y", 2).empty());
  EXPECT_TRUE(session->parameter(0, Slot::Parameter, 2).empty());
  EXPECT_EQ(session->findNonFinite("forward", 2), "");
  EXPECT_FALSE(session->isActive(2));
  EXPECT_FALSE(session->setActive(2, true));
  std::vector<std::byte> bytes(64);
  EXPECT_FALSE(session->setParameter(0, bytes, Slot::Parameter, 2));
  auto done = session->initialize(std::array<uint64_t, 3>{1, 2, 3});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("for 2 replicas, but 3 seeds"), std::string::npos);
}

TEST(Replicas, TellWhichStepStopsBeingFinite) {
  ExecutableSpec spec = executableOf(2);
  spec.program("forward").steps[0].symbol = "invert";
  auto session = sessionOf(spec);
  ASSERT_TRUE(session);
  for (int64_t replica : {0, 1})
    for (float &value : session->inputAs<float>("forward", "x", replica))
      value = 2;
  session->inputAs<float>("forward", "x", 1)[3] = 0;
  expectRuns(*session, "forward");
  EXPECT_EQ(session->findNonFinite("forward", 0), "");
  EXPECT_EQ(session->findNonFinite("forward", 1), "add at test.hyb:3:7");
  EXPECT_EQ(session->findNonFinite("forward", 0), "");
}

TEST(Replicas, TakeTheMemoryThatIsTold) {
  for (uint32_t replicas : {1u, 2u, 7u}) {
    ExecutableSpec spec = executableOf(replicas);
    auto session = sessionOf(spec);
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->initialize(1));
    expectRuns(*session, "update");
    const SessionUse use{.programs = {"setup", "init", "update"}};
    const SessionMemory told = memoryOf(session->executable().format(), use);
    EXPECT_EQ(session->allocatedBytes(), told.total()) << replicas;
    // It touches one of the two: of one replica the 80 bytes that it does, of more whole strides.
    EXPECT_EQ(told.moments, replicas == 1 ? 80 : told.parameters) << replicas;
  }
}

TEST(Replicas, AreBounded) {
  auto refusal = [](const ExecutableSpec &spec) {
    auto executable = Executable::fromBytes(spec.bytes(), "test.hyx");
    return executable ? "accepted" : executable.error().message;
  };
  EXPECT_EQ(refusal(executableOf(1024)), "accepted");
  EXPECT_NE(refusal(executableOf(0)).find("0 replicas, expected 1 to 1024"), std::string::npos);
  EXPECT_NE(refusal(executableOf(1025)).find("1025 replicas"), std::string::npos);
  EXPECT_NE(refusal(executableOf(0xffffffff)).find("4294967295 replicas"), std::string::npos);
  ExecutableSpec spec = executableOf(2);
  spec.parameterBytes = (uint64_t(1) << 39) + 1;
  EXPECT_NE(refusal(spec).find("the parameters of 2 replicas"), std::string::npos);
  spec = executableOf(1024);
  spec.arenaBytes = (uint64_t(1) << 30) + 1;
  EXPECT_NE(refusal(spec).find("the arena of 1024 replicas"), std::string::npos);
  // Outputs over one place take no more of the arena, but each is kept for every replica.
  spec = executableOf(1024);
  spec.arenaBytes = uint64_t(1) << 30;
  ProgramSpec &forward = spec.program("forward");
  forward.arenaBytes = spec.arenaBytes;
  for (int i = 0; i < 4; ++i)
    forward.outputs.push_back({"again" + std::to_string(i),
                               {int64_t(1) << 27},
                               fb::DType::F32,
                               at(Arena, 0, uint64_t(1) << 29)});
  EXPECT_NE(refusal(spec).find("inputs and outputs of program 'forward'"), std::string::npos);
}
