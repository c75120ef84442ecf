//===- Compression.h - a sequence in one position ---------------------------===//
#pragma once
#include "runtime/tasks/Parameters.h"
#include "runtime/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=16, length=32. Both conventions and both splits are the same.
Result<std::unique_ptr<Task>> createCompression(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
