//===- MambaSelectiveCopying.h - copy tokens at random places ---------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=16, length=4096, tokens_to_copy=16. Both conventions and both splits are the same.
Result<std::unique_ptr<Task>> createMambaSelectiveCopying(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
