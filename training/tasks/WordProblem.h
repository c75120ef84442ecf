//===- WordProblem.h - products of elements of a group -----------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: group=S3 (S, A or Z and a number), length=128 and train_length=128 in elements,
/// swaps=false. Both conventions are the same.
Result<std::unique_ptr<Task>> createWordProblem(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
