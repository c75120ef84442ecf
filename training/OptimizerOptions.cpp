//===- OptimizerOptions.cpp - AdamW and its learning rate -------------------------===//
#include "training/OptimizerOptions.h"
#include "executable/Spaces.h"
#include <fmt/format.h>
#include <map>
#include <string_view>

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
  const fb::Program *update = nullptr;
  for (const fb::Program *program : *executable.format().programs())
    if (program->name()->string_view() == "update")
      update = program;
  if (!update || takesInput(*update, "hyper")) // which has all numbers of the built-in AdamW
    return {};
  // What optimizers of the language can take, by the name of the input that has it.
  static const std::map<std::string_view, std::string_view> inputs = {
      {"--lr", "learning_rate"}, {"--weight-decay", "weight_decay"}};
  for (const std::string &flag : given) {
    const auto input = inputs.find(flag);
    if (input != inputs.end() && takesInput(*update, input->second))
      continue;
    return Error{fmt::format(
        "{} would change nothing: it is for the built-in AdamW{}, and every parameter of {} has "
        "another optimizer; that takes its own rates where it is chosen, as in --optimizer 'adamw "
        "with (beta1 = 0.95)'",
        flag, input == inputs.end() ? "" : fmt::format(" and optimizers with {}", input->second),
        executable.name())};
  }
  return {};
}

Hyper OptimizerOptions::at(int64_t step) const {
  return {schedule.at(step), weightDecay, beta1, beta2, epsilon, clip, step + 1};
}

} // namespace hybrid::rt
