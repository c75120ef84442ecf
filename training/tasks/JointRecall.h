//===- JointRecall.h - values of keys that depend on a context ---------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=96, contexts=4, keys=4. Both conventions are the same.
Result<std::unique_ptr<Task>> createJointRecall(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
