//===- SessionTest.cpp - running executables ---------------------------------===//
#include "runtime/Session.h"
#include "test/unit/runtime/TestExecutable.h"
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <thread>

using namespace hybrid;
using namespace hybrid::rt;
using namespace hybrid::rt::test;
using enum fb::Space;

static std::unique_ptr<Session> sessionOf(const ExecutableSpec &spec, SessionOptions options = {}) {
  auto executable = loaded(spec);
  if (!executable)
    return nullptr;
  auto session = Session::create(executable, options);
  if (!session) {
    ADD_FAILURE() << session.error().message;
    return nullptr;
  }
  return std::move(*session);
}

static std::string refusalOf(const ExecutableSpec &spec, SessionOptions options = {}) {
  auto executable = loaded(spec);
  if (!executable)
    return "";
  auto session = Session::create(executable, options);
  return session ? "accepted" : session.error().message;
}

static void expectRuns(Session &session, std::string_view program) {
  Result<void> done = session.run(program);
  EXPECT_TRUE(done) << done.error().message;
}

TEST(Session, RunsKernelsForAnyNumberOfThreads) {
  for (int threads : {0, 1, 2, 3, 16, 64}) {
    auto session = sessionOf(soundExecutable(), {threads});
    ASSERT_TRUE(session);
    if (threads) {
      EXPECT_EQ(session->threads(), threads);
    }
    auto x = session->inputAs<float>("forward", "x");
    ASSERT_EQ(x.size(), 16u);
    for (size_t i = 0; i < 16; ++i)
      x[i] = static_cast<float>(i);
    expectRuns(*session, "forward");
    auto y = session->outputAs<float>("forward", "y"), z = session->outputAs<float>("forward", "z");
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(y[i], static_cast<float>(i + 1));
      EXPECT_EQ(z[i], static_cast<float>(10 * i)) << "from the table that setup filled";
    }
  }
}

TEST(Session, RunsFromAnotherThread) {
  auto session = sessionOf(soundExecutable(), {2});
  ASSERT_TRUE(session);
  session->inputAs<float>("forward", "x")[3] = 4;
  std::thread([&] { expectRuns(*session, "forward"); }).join();
  EXPECT_EQ(session->outputAs<float>("forward", "y")[3], 5);
}

TEST(Session, DrawsParametersFromBothWordsOfTheSeed) {
  auto session = sessionOf(soundExecutable());
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->initialize(uint64_t(3) << 32 | 5));
  auto bytes = session->parameter(1);
  ASSERT_EQ(bytes.size(), 16u);
  float first;
  std::memcpy(&first, bytes.data(), 4);
  EXPECT_EQ(first, 5 + 16 * 3);
}

TEST(Session, TrainingStateAppearsWhenItIsNeeded) {
  auto session = sessionOf(soundExecutable());
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->initialize(2));
  uint64_t before = session->allocatedBytes();
  ASSERT_TRUE(session->initialize(1));
  EXPECT_EQ(session->allocatedBytes(), before);
  auto gradient = session->parameter(0, Session::Slot::Gradient);
  ASSERT_EQ(gradient.size(), 64u);
  EXPECT_GT(session->allocatedBytes(), before);
  float one = 1, value;
  std::vector<std::byte> ones(gradient.begin(), gradient.end());
  std::memcpy(ones.data(), &one, 4);
  ASSERT_TRUE(session->setParameter(0, ones, Session::Slot::Gradient));
  std::memcpy(&value, session->parameter(0).data(), 4);
  session->inputAs<double>("update", "hyper")[0] = 0.5;
  expectRuns(*session, "update");
  float after, moment;
  std::memcpy(&after, session->parameter(0).data(), 4);
  std::memcpy(&moment, session->parameter(0, Session::Slot::Moment1).data(), 4);
  EXPECT_EQ(after, value - 0.5f);
  EXPECT_EQ(moment, 1);
  ASSERT_TRUE(session->initialize(1)); // starts afresh
  std::memcpy(&moment, session->parameter(0, Session::Slot::Moment1).data(), 4);
  EXPECT_EQ(moment, 0);
}

TEST(Session, RefusesTrainingWhenMadWithoutIt) {
  auto session = sessionOf(soundExecutable(), {1, false});
  ASSERT_TRUE(session);
  Result<void> done = session->run("update");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("without training"), std::string::npos);
  EXPECT_TRUE(session->parameter(0, Session::Slot::Moment2).empty());
  expectRuns(*session, "forward");
}

TEST(Session, AnswersUnknownNames) {
  auto session = sessionOf(soundExecutable());
  ASSERT_TRUE(session);
  Result<void> done = session->run("train");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("has no program 'train'"), std::string::npos);
  EXPECT_TRUE(session->input("forward", "nothing").empty());
  EXPECT_TRUE(session->output("nothing", "y").empty());
  EXPECT_TRUE(session->parameter(99).empty());
  EXPECT_EQ(session->findNonFinite("nothing"), "");
}

TEST(Session, RefusesCodeThatCannotBeLoaded) {
  ExecutableSpec spec = soundExecutable();
  spec.program("forward").steps[0].symbol = "no_such_kernel";
  EXPECT_NE(refusalOf(spec).find("no kernel 'no_such_kernel'"), std::string::npos);
  spec = soundExecutable();
  spec.code.assign(100, 7);
  EXPECT_NE(refusalOf(spec).find("does not load"), std::string::npos);
  EXPECT_NE(refusalOf(soundExecutable(), {-1}).find("-1 threads"), std::string::npos);
  EXPECT_NE(refusalOf(soundExecutable(), {1 << 30}).find("threads"), std::string::npos);
}

TEST(Session, SaysHowMuchMemoryItWanted) {
  ExecutableSpec spec = soundExecutable();
  spec.arenaBytes = uint64_t(1) << 40;
  std::string message = refusalOf(spec);
  EXPECT_NE(message.find("1099511627776 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("--batch"), std::string::npos) << message;
}

/// x -> y = 1 / x -> z = y + 1, where z lies over x as the arena's reuse may have it.
static ExecutableSpec invertingExecutable() {
  ExecutableSpec spec = soundExecutable();
  auto x = at(Arena, 0, 64), y = at(Arena, 64, 64);
  ProgramSpec program = spec.program("forward");
  program.name = "eval";
  program.outputs = {{"z", {16}, fb::DType::F32, x}};
  program.steps = {{"invert", 16, {x, y}, 0, {}, "div", "model.hyb:4:2"},
                   {"add_one", 16, {y, x}, 0, {}, "add", "model.hyb:5:2"}};
  spec.programs.insert(spec.programs.begin(), program);
  return spec;
}

TEST(Session, FindsTheStepThatStopsBeingFinite) {
  auto session = sessionOf(invertingExecutable());
  ASSERT_TRUE(session);
  auto x = session->inputAs<float>("eval", "x");
  for (float &value : x)
    value = 2;
  x[7] = 0;
  for (int i = 0; i < 2; ++i) { // looking changes nothing that a second look needs
    if (i == 0)
      expectRuns(*session, "eval");
    EXPECT_EQ(session->findNonFinite("eval"), "div at model.hyb:4:2");
  }
  auto input = session->inputAs<float>("eval", "x");
  for (float &value : input)
    value = 2;
  expectRuns(*session, "eval");
  EXPECT_EQ(session->findNonFinite("eval"), "");
}

TEST(Session, RunsTilesInAnyOrderOfThreads) {
  for (int threads : {1, 2, 3}) {
    auto session = sessionOf(tiledExecutable(), {threads});
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->initialize(1)); // w = 1 everywhere, b = 1
    auto x = session->inputAs<float>("product", "x");
    for (size_t i = 0; i < 16; ++i)
      x[i] = static_cast<float>(i);
    expectRuns(*session, "product");
    auto y = session->outputAs<float>("product", "y");
    for (size_t row = 0; row < 4; ++row)
      for (size_t column = 0; column < 4; ++column)
        EXPECT_EQ(y[row * 4 + column], static_cast<float>(16 * row + 6 + 4 + 1)) << row;
  }
}

TEST(Session, FindsTheStepInsideOfTiles) {
  ExecutableSpec spec = tiledExecutable();
  LoopSpec &loop = *spec.program("product").steps[0].loop;
  loop.steps[0].symbol = "invert";
  auto session = sessionOf(spec);
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->initialize(1));
  auto x = session->inputAs<float>("product", "x");
  for (float &value : x)
    value = 1;
  x[13] = 0; // in the second tile
  expectRuns(*session, "product");
  EXPECT_EQ(session->findNonFinite("product"), "add at test.hyb:3:7");
}

TEST(Session, NamesAParameterThatIsNotFinite) {
  auto session = sessionOf(invertingExecutable());
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->initialize(1));
  float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::byte> bytes(session->parameter(1).begin(), session->parameter(1).end());
  std::memcpy(bytes.data() + 4, &nan, 4);
  ASSERT_TRUE(session->setParameter(1, bytes));
  expectRuns(*session, "eval");
  EXPECT_EQ(session->findNonFinite("eval"), "parameter 'b'");
}

TEST(Session, MeasuresEveryStep) {
  auto session = sessionOf(soundExecutable());
  ASSERT_TRUE(session);
  auto times = session->profile("forward");
  ASSERT_TRUE(times);
  ASSERT_EQ(times->size(), 2u);
  EXPECT_EQ((*times)[0].op, "add");
  EXPECT_EQ((*times)[0].location, "test.hyb:3:7");
  EXPECT_GE((*times)[0].seconds, 0);
}
