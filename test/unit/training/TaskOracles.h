//===- TaskOracles.h - solvers of the tasks, written from their papers ------===//
//
// What the target at position t of a test instance must be, told from inputs[0..t] alone: written
// from the descriptions of the tasks, not from their generators. Each reads the layout (how many
// ids, which are special) from the task's settings.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/tasks/Task.h"
#include <functional>
#include <span>

namespace hybrid::test {

/// The target at the last of the inputs seen, or ignoredTarget.
using Oracle = std::function<int32_t(std::span<const int32_t> seen)>;

/// Empty for a task that nobody has written a solver for. The facts of memorization are read from
/// training instances.
Oracle oracleOf(const rt::Task &task, uint64_t seed);

/// The value of one of a task's settings.
int64_t integerSetting(const rt::Task &task, const std::string &key);
bool isSet(const rt::Task &task, const std::string &key);

} // namespace hybrid::test
