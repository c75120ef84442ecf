//===- Parity.h - whether the number of ones is odd ------------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: length=256, train_shortest=3, train_longest=40, test_shortest=40. Both conventions are the
/// same.
Result<std::unique_ptr<Task>> createParity(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
