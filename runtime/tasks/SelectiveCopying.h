//===- SelectiveCopying.h - copy the content, skip the blanks ---------------===//
#pragma once
#include "runtime/tasks/Parameters.h"
#include "runtime/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=16, length=256, tokens_to_copy=16, layout=mad-lab|paper. Both conventions and both
/// splits are the same.
Result<std::unique_ptr<Task>> createSelectiveCopying(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
