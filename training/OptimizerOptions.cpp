//===- OptimizerOptions.cpp - AdamW and its learning rate -------------------------===//
#include "training/OptimizerOptions.h"
#include "executable/Executable_generated.h"
#include <fmt/format.h>

namespace hybrid::rt {

Result<void> OptimizerOptions::check() const {
  if (schedule.least > schedule.base)
    return Error{fmt::format("--min-lr {} is above --lr {}", schedule.least, schedule.base)};
  if (schedule.decaysAtTheEnd() && schedule.decay < 1)
    return Error{fmt::format("--schedule {} falls over the last steps: say over how many with "
                             "--decay-steps",
                             nameOf(schedule.kind))};
  if (!schedule.decaysAtTheEnd() && schedule.decay > 0)
    return Error{fmt::format("--decay-steps is for the schedules wsd and trapezoid, not for {}",
                             nameOf(schedule.kind))};
  const bool shaped = schedule.rise != RampShape::Linear || schedule.fall != RampShape::Linear;
  if (shaped && schedule.kind != ScheduleKind::Wsd)
    return Error{fmt::format("--warmup-shape and --decay-shape are for the schedule wsd, not for "
                             "{}",
                             nameOf(schedule.kind))};
  return {};
}

Result<void> OptimizerOptions::checkSteps(int64_t steps) const {
  if (schedule.decaysAtTheEnd() && steps > 0 && schedule.warmup + schedule.decay > steps)
    return Error{fmt::format("--warmup {} and --decay-steps {} are more than the {} steps of the "
                             "schedule",
                             schedule.warmup, schedule.decay, steps)};
  return {};
}

/// Whether the built-in AdamW updates a parameter; in all programs its norm of the gradient is
/// taken.
static bool updatesByAdamW(const Executable &executable) {
  for (const fb::Program *program : *executable.format().programs())
    if (program->name()->string_view() == "update" && program->steps())
      for (const fb::Step *step : *program->steps())
        if (const auto *launch = step->operation_as_KernelLaunch())
          if (launch->symbol()->string_view().find("_adamw") != std::string_view::npos)
            return true;
  return false;
}

Result<void> OptimizerOptions::checkTaken(const Executable &executable) const {
  if (given.empty() || updatesByAdamW(executable))
    return {};
  return Error{fmt::format("{} would change nothing: it is for the built-in AdamW, and every "
                           "parameter of {} has another optimizer; that takes its own rates where "
                           "it is chosen, as in --optimizer 'adamw with (beta1 = 0.95)'",
                           given.front(), executable.name())};
}

Hyper OptimizerOptions::at(int64_t step) const {
  return {schedule.at(step), weightDecay, beta1, beta2, epsilon, clip, step + 1};
}

} // namespace hybrid::rt
