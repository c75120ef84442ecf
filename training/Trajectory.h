//===- Trajectory.h - what decides the bits of a run -------------------------===//
#pragma once
#include "training/Trainer.h"

namespace hybrid::rt {

/// The settings that decide the bits of a run, and what its data is, wherever that lies.
nlohmann::json trajectoryOf(const TrainOptions &options, const StepRunner &runner,
                            const Source &source);

/// What `then`, a trajectory, had of the settings of how a run ends otherwise than `now` has: it
/// may go on with others. Null where it had none.
nlohmann::json endBefore(const nlohmann::json &now, const nlohmann::json &then);

/// A trajectory without these settings.
nlohmann::json withoutEnd(nlohmann::json trajectory);

} // namespace hybrid::rt
