//===- AssociativeRecall.h - the Hyena paper's recall of one pair -----------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=10, length=1024, num_keys=1, train_targets=all|answer. Both conventions are the
/// same.
Result<std::unique_ptr<Task>> createAssociativeRecall(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
