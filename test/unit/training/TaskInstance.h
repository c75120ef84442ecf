// What the tests of the tasks share: a task from its spec, one instance, and counts.
#pragma once
#include "training/tasks/Task.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hybrid::test {

using rt::Convention;
using rt::createTask;
using rt::defaultDataSeed;
using rt::ignoredTarget;
using rt::Split;
using rt::Task;

struct Drawn {
  std::vector<int32_t> inputs, targets;
  bool operator<(const Drawn &other) const { return inputs < other.inputs; }
};

inline std::unique_ptr<Task> make(const std::string &spec,
                                  Convention convention = Convention::Paper) {
  auto task = createTask(spec, convention);
  EXPECT_TRUE(task) << task.error().message;
  return std::move(*task);
}

inline Drawn draw(const Task &task, Split split, uint64_t index, uint64_t seed = defaultDataSeed) {
  auto positions = static_cast<size_t>(task.positions());
  Drawn instance{std::vector<int32_t>(positions, -7), std::vector<int32_t>(positions, -7)};
  task.generate(seed, split, index, instance.inputs, instance.targets);
  return instance;
}

inline size_t scored(const Drawn &instance) {
  size_t count = 0;
  for (int32_t target : instance.targets)
    count += target != ignoredTarget;
  return count;
}

/// The message for a spec that is refused.
inline std::string refusal(const std::string &spec) {
  auto task = createTask(spec);
  return task ? "accepted" : task.error().message;
}

/// Pearson's statistic of counts that should all be the same.
inline double chiSquare(std::span<const double> counts) {
  double total = 0, sum = 0;
  for (double count : counts)
    total += count;
  double expected = total / static_cast<double>(counts.size());
  for (double count : counts)
    sum += (count - expected) * (count - expected) / expected;
  return sum;
}

/// What the statistic of `counts` equal chances exceeds once in ten thousand times (Wilson and
/// Hilferty 1931: its cube root is nearly normal).
inline double chiSquareLimit(size_t counts) {
  double freedom = static_cast<double>(counts) - 1, spread = 2 / (9 * freedom);
  double root = 1 - spread + 3.719 * std::sqrt(spread);
  return freedom * root * root * root;
}

/// Every token is an id, every target an id or ignored, something is asked; the same place gives
/// the same instance again, another seed or split another one.
inline void expectWellFormed(const Task &task, int instances = 50) {
  for (Split split : {Split::Train, Split::Test})
    for (uint64_t i = 0; i < static_cast<uint64_t>(instances); ++i) {
      Drawn instance = draw(task, split, i);
      for (int32_t token : instance.inputs)
        ASSERT_TRUE(token >= 0 && token < task.vocabulary()) << task.spec() << ": " << token;
      for (int32_t token : instance.targets)
        ASSERT_TRUE(token == ignoredTarget || (token >= 0 && token < task.vocabulary()))
            << task.spec() << ": " << token;
      EXPECT_GE(scored(instance), 1u);
      Drawn again = draw(task, split, i);
      EXPECT_EQ(instance.inputs, again.inputs);
      EXPECT_EQ(instance.targets, again.targets);
    }
}

} // namespace hybrid::test
