//===- LinearFunctions.h - in-context learning of linear functions ----------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: dimension=5, pairs=2*dimension+1. A task of numbers. Both conventions are the same.
Result<std::unique_ptr<Task>> createLinearFunctions(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
