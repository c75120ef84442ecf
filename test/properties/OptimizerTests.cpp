//===- OptimizerTests.cpp - what an update leaves as it was ------------------===//
//
// An update whose gradients have no finite norm changes nothing, whatever optimizer a parameter
// has; the next one changes everything. A replica's update is that of a run alone.
//
//===----------------------------------------------------------------------===//
#include "runtime/Optimizer.h"
#include "runtime/Session.h"
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <unistd.h>

using namespace hybrid::rt;

namespace {

constexpr const char *model = R"(
model two() {
  input g: [6, 4]
  input h: [37]
  let p = param([6, 4], init = uniform(-1, 1))
  let q = param([37], init = uniform(-1, 1))
  let r = param([37], init = uniform(-1, 1), decay = false)
  output loss = sum(p * g) + sum(q * h) + sum(r * h)
}
)";

class Optimizers : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "hybrid-optimizers-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/two.hyb") << model;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::unique_ptr<Session> compile(const std::string &options) const {
    const std::string file = folder + "/two.hyx";
    const std::string command = std::string(HYBRIDC) + " " + folder + "/two.hyb " + GetParam() +
                                " " + options + " -o " + file;
    if (std::system(command.c_str()) != 0)
      return nullptr;
    auto executable = Executable::load(file);
    auto session = executable ? Session::create(*executable, {1, true})
                              : Result<std::unique_ptr<Session>>(executable.error());
    EXPECT_TRUE(session) << session.error().message;
    return session ? std::move(*session) : nullptr;
  }

  /// Gradients that are `scale` times their number, or with `broken` one that is no number.
  static void differentiate(Session &session, int64_t replica, float scale, bool broken) {
    for (const char *name : {"g", "h"}) {
      auto values = session.inputAs<float>("vjp", name, replica);
      ASSERT_FALSE(values.empty());
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = scale * static_cast<float>(i % 7) - 2;
      if (broken)
        values[3] = std::numeric_limits<float>::quiet_NaN();
    }
    session.inputAs<float>("vjp", "cotangent.loss", replica)[0] = 1;
  }

  static std::vector<std::vector<std::byte>> stateOf(Session &session, int64_t replica) {
    using enum Session::Slot;
    std::vector<std::vector<std::byte>> state;
    for (size_t i = 0; i < session.executable().parameters().size(); ++i)
      for (Session::Slot slot : {Parameter, Moment1, Moment2}) {
        auto bytes = session.parameter(i, slot, replica);
        state.emplace_back(bytes.begin(), bytes.end());
      }
    return state;
  }

  static void step(Session &session, bool broken, float rate = 0.01, float decay = 0.1) {
    for (int64_t replica = 0; replica < session.replicas(); ++replica)
      differentiate(session, replica, static_cast<float>(replica + 1), broken);
    ASSERT_TRUE(session.run("vjp"));
    for (int64_t replica = 0; replica < session.replicas(); ++replica)
      writeHyper(session, {rate, decay, 0.9, 0.98, 1e-8, 1, 1}, replica);
    ASSERT_TRUE(session.run("update"));
  }

  std::string folder;
};

TEST_P(Optimizers, LeaveAllWithoutAFiniteNorm) {
  auto session = compile("");
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->initialize(3));
  step(*session, false);
  const auto before = stateOf(*session, 0);
  step(*session, true);
  EXPECT_TRUE(std::isnan(session->outputAs<float>("update", "gradient_norm")[0]));
  EXPECT_EQ(stateOf(*session, 0), before);
  step(*session, false);
  const auto after = stateOf(*session, 0);
  for (size_t i = 0; i < before.size(); i += 3) // the parameters
    EXPECT_NE(after[i], before[i]) << i / 3;
}

TEST_P(Optimizers, OfAReplicaAreThoseOfARunAlone) {
  std::vector<std::vector<std::vector<std::byte>>> together;
  {
    auto session = compile("--ensemble 2");
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->initialize(3));
    step(*session, false);
    step(*session, false);
    together = {stateOf(*session, 0), stateOf(*session, 1)};
  }
  auto alone = compile("");
  ASSERT_TRUE(alone);
  ASSERT_TRUE(alone->initialize(3));
  step(*alone, false);
  step(*alone, false);
  EXPECT_EQ(stateOf(*alone, 0), together[0]);
  EXPECT_NE(together[0], together[1]);
}

class ByFanIn : public Optimizers {};

TEST_P(ByFanIn, GivesAMatrixOfMoreInputsThanTheBaseLessOfTheRate) {
  // Of four inputs half the rate with a base of two, all of it with one of eight.
  for (const auto &[base, share] : {std::pair{2, 0.5F}, {8, 1.0F}}) {
    auto scaled =
        compile(" --optimizer 'p=adamw_by_fan_in with (base = " + std::to_string(base) + ")'");
    ASSERT_TRUE(scaled);
    ASSERT_TRUE(scaled->initialize(3));
    auto plain = compile(" --optimizer p=adamw");
    ASSERT_TRUE(plain);
    ASSERT_TRUE(plain->initialize(3));
    for (int i = 0; i < 3; ++i) {
      step(*scaled, false);
      step(*plain, false, share * 0.01F, 0.1F / share); // the decay is not scaled
    }
    const auto matrix = stateOf(*scaled, 0), expected = stateOf(*plain, 0);
    for (size_t slot = 0; slot < 3; ++slot)
      EXPECT_EQ(matrix[slot], expected[slot]) << base << ", " << slot;
  }
}

INSTANTIATE_TEST_SUITE_P(Base, ByFanIn, testing::Values(""));
INSTANTIATE_TEST_SUITE_P(All, Optimizers,
                         testing::Values("", "--optimizer adamw", "--optimizer lion",
                                         "--optimizer sgd", "--optimizer p=muon",
                                         "--optimizer lion --optimizer p=muon"));

} // namespace
