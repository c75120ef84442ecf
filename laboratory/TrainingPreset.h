//===- TrainingPreset.h - a paper's recipe as the options of a training --------------===//
#pragma once
#include "laboratory/Training.h"

namespace hybrid::rt::lab {

/// Takes from the preset, where there is one, what the user did not give: rates, betas, steps, and
/// how many batches make an update. `parameters` are those of the model, `batch` and `length` what
/// it was compiled for. Says on standard error what was taken.
Result<void> applyPreset(TrainingOptions &options, uint64_t parameters, int64_t batch,
                         int64_t length);

/// The preset's warm-up is a share of the steps.
void applyPresetWarmup(TrainingOptions &options);

} // namespace hybrid::rt::lab
