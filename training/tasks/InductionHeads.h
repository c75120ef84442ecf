//===- InductionHeads.h - what followed the trigger the first time ----------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// The Mamba paper's form. Keys: vocab=16, length=256. Both conventions and both splits are the
/// same.
Result<std::unique_ptr<Task>> createInductionHeads(TaskParameters &parameters, Convention);
/// The form of the code released with H3 and Hyena. Keys: vocab=20, length=30,
/// train_targets=all|answer.
Result<std::unique_ptr<Task>> createSafariInduction(TaskParameters &parameters, Convention);

} // namespace hybrid::rt
