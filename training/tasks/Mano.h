//===- Mano.h - expressions in prefix form, modulo a number -----------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: operators=10, modulus=23. Both conventions are the same.
Result<std::unique_ptr<Task>> createMano(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
