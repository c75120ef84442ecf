//===- MultiQueryRecall.h - recall of many pairs, as in zoology ------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=8192, length=64, pairs=4, power=0.01, distractors=true. Both conventions and both
/// splits are the same.
Result<std::unique_ptr<Task>> createMultiQueryRecall(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
