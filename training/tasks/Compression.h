//===- Compression.h - a sequence in one position ---------------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=16, length=32. Both conventions and both splits are the same.
Result<std::unique_ptr<Task>> createCompression(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
