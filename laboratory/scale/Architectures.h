//===- Architectures.h - models as a scaling study sets them --------------------------===//
#pragma once
#include "laboratory/scale/Plan.h"

namespace hybrid::rt::lab::scale {

/// The name of the models' parameter that `--ratios` sweeps: layers of another kind for each of
/// attention.
inline constexpr const char *ratioParameter = "ratio";

/// Sets what follows from the study, where a model has the parameter and nobody set it: `vocab`
/// (of the data), `l_max` (the length). With `ratios`, which `ratioParameter` takes, also that, to
/// its default, and adds the models of the sweep at `plan.sweepBudget`. Fails where the compiler
/// cannot read a model, or ratios are asked for and no model has them.
Result<void> prepareArchitectures(PlanOptions &plan, const std::vector<int64_t> &ratios);

/// The share of attention in a model of these settings, 1 / (ratio + 1); nothing without a ratio.
std::optional<double> attentionShare(const std::map<std::string, std::string> &settings);

} // namespace hybrid::rt::lab::scale
