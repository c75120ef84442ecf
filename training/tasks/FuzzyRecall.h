//===- FuzzyRecall.h - in-context recall of tuples --------------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=16, length=128, k_motif=3, v_motif=3 (the longest key and value), multi_query=true,
/// always_planted and train_targets by convention.
Result<std::unique_ptr<Task>> createFuzzyInContextRecall(TaskParameters &parameters,
                                                         Convention convention);

} // namespace hybrid::rt
