//===- Architectures.h - models as a scaling study sets them --------------------------===//
#pragma once
#include "laboratory/scale/Plan.h"

namespace hybrid::rt::lab::scale {

/// Sets what follows from the study, where a model has the parameter and nobody set it: `vocab`
/// (of the data), `l_max` (the length), and with a sweep of ratios `ratioParameter`, to its
/// default. Fails where the compiler cannot read a model, or ratios are asked for and no model has
/// them.
Result<void> prepareArchitectures(PlanOptions &plan);

/// The share of attention in a model of these settings, 1 / (ratio + 1); nothing without a ratio.
std::optional<double> attentionShare(const std::map<std::string, std::string> &settings);

} // namespace hybrid::rt::lab::scale
