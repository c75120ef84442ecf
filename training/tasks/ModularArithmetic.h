//===- ModularArithmetic.h - expressions modulo a number ----------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: modulus=5, brackets=false, length=256, train_shortest=3, train_longest=40,
/// test_shortest=40. Both conventions are the same.
Result<std::unique_ptr<Task>> createModularArithmetic(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
