//===- SelectiveCopying.h - copy the content, skip the blanks ---------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=16, length=256, tokens_to_copy=16, layout=mad-lab|paper by convention. Both splits
/// are the same.
Result<std::unique_ptr<Task>> createSelectiveCopying(TaskParameters &parameters,
                                                     Convention convention);

} // namespace hybrid::rt
