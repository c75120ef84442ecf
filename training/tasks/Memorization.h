//===- Memorization.h - facts to be learned by heart ------------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=256, length=32. Both conventions and both splits are the same.
Result<std::unique_ptr<Task>> createMemorization(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
