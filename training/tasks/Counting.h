//===- Counting.h - how often the last token occurred -----------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=43, length=128, most=32: counts up to `most`. Both conventions and both splits are
/// the same.
Result<std::unique_ptr<Task>> createCounting(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
