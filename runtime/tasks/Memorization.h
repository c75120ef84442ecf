//===- Memorization.h - facts to be learned by heart ------------------------===//
#pragma once
#include "runtime/tasks/Parameters.h"
#include "runtime/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=256, length=32. Both conventions and both splits are the same.
Result<std::unique_ptr<Task>> createMemorization(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
