//===- Depo.h - successors in a cycle of words -------------------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: nodes=32, hops=4, questions=10, letters=50, shortest=1 and longest=2 tokens of a word.
/// Both conventions are the same.
Result<std::unique_ptr<Task>> createDepo(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
