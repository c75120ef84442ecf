//===- Majority.h - the most frequent token ---------------------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=10, length=128. Both conventions and both splits are the same.
Result<std::unique_ptr<Task>> createMajority(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
