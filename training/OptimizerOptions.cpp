//===- OptimizerOptions.cpp - AdamW and its learning rate -------------------------===//
#include "training/OptimizerOptions.h"
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

Result<void> OptimizerOptions::checkTaken(const Executable &executable) const {
  // The built-in AdamW takes all in one input; an optimizer of the language takes those by name.
  const ProgramInfo *update = executable.findProgram("update");
  if (!update || update->findInput("hyper"))
    return {};
  for (const std::string &flag : given) {
    const std::string_view input = flag == "--weight-decay" ? "weight_decay"
                                   : flag == "--clip"       ? "clip_norm"
                                                            : "";
    const bool off = input == "weight_decay" ? weightDecay == 0 : input == "clip_norm" && clip == 0;
    if (off || (!input.empty() && update->findInput(input)))
      continue;
    const bool fixed = input.empty();
    return Error{fmt::format(
        "{} would change nothing: {}", flag,
        fixed ? "it is for the built-in AdamW, and every parameter has another optimizer; an "
                "optimizer takes its own rates where it is chosen, as in --optimizer 'adamw with "
                "(beta1 = 0.95)'"
              : fmt::format("no optimizer of {} takes '{}'", executable.name(), input))};
  }
  return {};
}

Hyper OptimizerOptions::at(int64_t step) const {
  return {schedule.at(step), weightDecay, beta1, beta2, epsilon, clip, step + 1};
}

} // namespace hybrid::rt
