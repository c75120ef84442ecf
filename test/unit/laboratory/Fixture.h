//===- Fixture.h - small studies for tests ------------------------------------===//
#pragma once
#include "laboratory/database/Schema.h"
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace hybrid::rt::lab {

/// A folder that goes with the test.
class TemporaryFolder {
public:
  TemporaryFolder() {
    const auto *test = testing::UnitTest::GetInstance()->current_test_info();
    path = std::filesystem::temp_directory_path() /
           fmt::format("hybrid-{}-{}-{}", test->test_suite_name(), test->name(), getpid());
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::string file(const std::string &name) const { return path / name; }

private:
  std::filesystem::path path;
};

/// Pending runs: `settings` of two tasks, two learning rates, `seeds` seeds.
inline Study makeStudy(int settings, int seeds) {
  Study study{"paper", "full", "test", "hybrid-run mad", 7, {{"batch", "128"}, {"epochs", "3"}},
              "{}",    {},     {}};
  study.architectures = {
      {"first",
       "first.hyb",
       "model text",
       {{"width", "64"}},
       100,
       2.5,
       StateSize{10, 20},
       StateSize{15, 0}},
      {"second", "second.hyb", "other text", {}, 200, 4, {}, {}}}; // an unknown state
  for (const Architecture &architecture : study.architectures)
    for (int setting = 0; setting < settings; ++setting)
      for (double rate : {1e-3, 1e-4})
        for (int seed = 0; seed < seeds; ++seed) {
          Run run;
          run.architecture = architecture.name;
          run.task = setting % 2 ? "compression" : "in-context-recall";
          run.setting = fmt::format("{}:vocab={}", run.task, 16 + setting / 2);
          run.axis = setting / 2 ? "vocab" : "baseline";
          run.axisValue = 16 + setting / 2;
          run.learningRate = rate;
          run.weightDecay = 0.1;
          run.seed = static_cast<uint64_t>(seed);
          run.chance = 0.125;
          run.batch = 128;
          run.steps = 20;
          if (architecture.state)
            run.stateElements = architecture.state->total();
          study.runs.push_back(run);
        }
  return study;
}

inline void storeAt(const std::string &path, const Study &study) {
  auto database = openStudy(path, Database::Mode::Create);
  ASSERT_TRUE(database) << database.error().message;
  auto done = storeStudy(**database, study);
  ASSERT_TRUE(done) << done.error().message;
}

} // namespace hybrid::rt::lab
