//===- Recall.h - in-context recall, plain and noisy ------------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

/// Keys: vocab=16, length=128, multi_query=true, frac_noise=0, noise_vocab=0; noise, map and
/// train_targets by convention.
Result<std::unique_ptr<Task>> createInContextRecall(TaskParameters &parameters,
                                                    Convention convention);
/// The same with vocab=32, noise_vocab=16, frac_noise=0.2.
Result<std::unique_ptr<Task>> createNoisyInContextRecall(TaskParameters &parameters,
                                                         Convention convention);

} // namespace hybrid::rt
