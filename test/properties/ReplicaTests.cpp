//===- ReplicaTests.cpp - a replica has the bits of a run alone -------------===//
//
// Models compiled for three replicas are trained with three seeds, batches, learning rates and
// weight decays at once, and one by one: losses and all that training carries are equal in every
// bit, whatever the number of threads, and whether or not the other replicas take part.
//
//===----------------------------------------------------------------------===//
#include "runtime/Session.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

using namespace hybrid::rt;

namespace {

constexpr int64_t replicas = 3, steps = 3;
constexpr std::array<uint64_t, replicas> seeds{11, uint64_t(7) << 32 | 5, 12};

struct Case {
  std::string model, settings, precision;
};

void PrintTo(const Case &value, std::ostream *stream) {
  *stream << value.model << ' ' << value.precision;
}

/// What is left of a training: losses and counts of every step, then all slots of all parameters.
struct Trace {
  std::vector<std::vector<std::byte>> parts;
  void add(std::span<const std::byte> bytes) { parts.emplace_back(bytes.begin(), bytes.end()); }
};

/// Batch, optimizer and results of a training that draws what it needs from its own seed.
class Training {
public:
  Training(Session &session, int64_t replica, size_t number)
      : session(session), replica(replica), engine(seeds[number]),
        learningRate(1e-2 / static_cast<double>(number + 1)),
        weightDecay(0.1 * static_cast<double>(number)) {}

  void fill() {
    for (const char *name : {"tokens", "targets"}) {
      auto ids = session.inputAs<int32_t>("train", name, replica);
      ASSERT_FALSE(ids.empty());
      for (int32_t &id : ids)
        id = static_cast<int32_t>(engine() % 16);
    }
  }
  void note() {
    for (const char *name : {"loss", "weight", "correct"})
      trace.add(session.output("train", name, replica));
  }
  void fillUpdate(int64_t step) {
    auto hyper = session.inputAs<double>("update", "hyper", replica);
    ASSERT_EQ(hyper.size(), 8u);
    const double t = static_cast<double>(step + 1),
                 values[] = {learningRate,         weightDecay,          0.9, 0.98, 1e-8, 1,
                             1 - std::pow(0.9, t), 1 - std::pow(0.98, t)};
    std::copy(std::begin(values), std::end(values), hyper.begin());
  }
  Trace finish() {
    using enum Session::Slot;
    for (size_t i = 0; i < session.executable().parameters().size(); ++i) {
      trace.add(session.parameter(i, Parameter, replica));
      // An optimizer keeps the moments that it takes: Muon none of the second.
      for (Session::Slot slot : {Moment1, Moment2})
        if (auto moment = session.parameter(i, slot, replica); !moment.empty())
          trace.add(moment);
    }
    return std::move(trace);
  }

private:
  Session &session;
  int64_t replica;
  std::mt19937_64 engine;
  double learningRate, weightDecay;
  Trace trace;
};

void expectRuns(Session &session, std::string_view program) {
  auto done = session.run(program);
  EXPECT_TRUE(done) << done.error().message;
}

void train(Session &session, std::span<Training> trainings) {
  for (int64_t step = 0; step < steps; ++step) {
    for (Training &training : trainings)
      training.fill();
    expectRuns(session, "train");
    for (Training &training : trainings) {
      training.note();
      training.fillUpdate(step);
    }
    expectRuns(session, "update");
  }
}

void expectEqual(const Trace &actual, const Trace &expected, const std::string &what) {
  ASSERT_EQ(actual.parts.size(), expected.parts.size());
  for (size_t i = 0; i < actual.parts.size(); ++i) {
    EXPECT_FALSE(expected.parts[i].empty());
    EXPECT_EQ(actual.parts[i], expected.parts[i]) << what << ", part " << i;
  }
}

class Replicas : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "hybrid-replicas-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::shared_ptr<const Executable> compile(int64_t ensemble) const {
    const Case &model = GetParam();
    std::string path = folder + "/" + std::to_string(ensemble) + ".hyx";
    std::string command = "'" HYBRIDC "' '" HYBRID_MODELS_DIR "/" + model.model + "' " +
                          model.settings + " --precision=" + model.precision + target() +
                          " --ensemble " + std::to_string(ensemble) + " -o '" + path +
                          "' 2>/dev/null";
    if (std::system(command.c_str()) != 0) {
      ADD_FAILURE() << command;
      return nullptr;
    }
    auto executable = Executable::load(path);
    if (executable)
      return *executable;
    ADD_FAILURE() << executable.error().message;
    return nullptr;
  }
  /// HYBRID_TEST_TARGET, or this machine's CPU.
  static std::string target() {
    const char *name = std::getenv("HYBRID_TEST_TARGET");
    return name ? std::string(" --target=") + name : "";
  }
  static std::unique_ptr<Session> sessionOf(std::shared_ptr<const Executable> executable,
                                            int threads) {
    auto session = Session::create(std::move(executable), {threads});
    if (session)
      return std::move(*session);
    ADD_FAILURE() << session.error().message;
    return nullptr;
  }

  std::string folder;
};

} // namespace

TEST_P(Replicas, HaveTheBitsOfRunsAlone) {
  auto single = compile(1), packed = compile(replicas);
  ASSERT_TRUE(single && packed);
  EXPECT_EQ(single->replicas(), 1);
  EXPECT_EQ(packed->replicas(), replicas);
  for (int threads : {1, 2}) {
    auto session = sessionOf(packed, threads);
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->initialize(seeds));
    std::vector<Training> together;
    for (size_t i = 0; i < replicas; ++i)
      together.emplace_back(*session, static_cast<int64_t>(i), i);
    train(*session, together);
    std::vector<Trace> traces;
    for (Training &training : together)
      traces.push_back(training.finish());
    EXPECT_NE(traces[0].parts, traces[1].parts);
    for (size_t i = 0; i < replicas; ++i) {
      auto alone = sessionOf(single, threads);
      ASSERT_TRUE(alone && alone->initialize(seeds[i]));
      std::vector<Training> one;
      one.emplace_back(*alone, 0, i);
      train(*alone, one);
      expectEqual(traces[i], one[0].finish(),
                  "replica " + std::to_string(i) + ", " + std::to_string(threads) + " threads");
    }
    // The last place trains again, as the second run, while the others keep what they have.
    ASSERT_TRUE(session->setActive(0, false) && session->setActive(1, false));
    ASSERT_TRUE(session->initialize(std::array{seeds[0], seeds[0], seeds[1]}));
    std::vector<Training> again;
    again.emplace_back(*session, 2, 1);
    train(*session, again);
    expectEqual(again[0].finish(), traces[1], "a replica in another place");
    std::vector<Training> kept;
    kept.emplace_back(*session, 0, 0);
    Trace rest = kept[0].finish();
    Trace before{
        {traces[0].parts.end() - static_cast<int64_t>(rest.parts.size()), traces[0].parts.end()}};
    expectEqual(rest, before, "a replica that took no part");
  }
}

static const std::string small = "--batch 4 --length 32 --set width=32";
INSTANTIATE_TEST_SUITE_P(Models, Replicas,
                         testing::Values(Case{"mad/attention-swiglu.hyb", small, "f32"},
                                         Case{"mad/striped-hyena-swiglu.hyb", small, "f32"},
                                         Case{"mad/mamba.hyb", small, "f32"},
                                         Case{"mad/attention-moe.hyb", small, "f32"},
                                         // Long enough for loops over tiles of rows.
                                         Case{"mad/attention-swiglu.hyb", "--batch 8 --length 128",
                                              "f32"},
                                         Case{"mad/striped-hyena-swiglu.hyb", small, "bf16"},
                                         Case{"mad/mamba.hyb", small, "bf16"}));
