//===- Arithmetic.h - addition, digit by digit ------------------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Key: digits=4. Both conventions are the same.
Result<std::unique_ptr<Task>> createArithmetic(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
