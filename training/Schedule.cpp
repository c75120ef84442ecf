//===- Schedule.cpp - learning rate as a function of the step ---------------===//
#include "training/Schedule.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace hybrid::rt {

static double halfCosine(double progress) {
  return 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

double Schedule::at(int64_t step) const {
  auto t = static_cast<double>(step), warm = static_cast<double>(warmup);
  double end = static_cast<double>(total);
  if (kind == ScheduleKind::TimmCosine) {
    if (step < warmup)
      return warmupStart + t * (base - warmupStart) / warm;
    return step >= total ? least : least + (base - least) * halfCosine(t / end);
  }
  if (step < warmup)
    return base * t / warm;
  double progress = (t - warm) / std::max(1.0, end - warm);
  switch (kind) {
  case ScheduleKind::Constant:
    return base;
  case ScheduleKind::Linear:
    return least + (base - least) * std::max(0.0, 1.0 - progress);
  default:
    // Not held at the end: the common warm-up-cosine schedule goes on along the cosine as well.
    return least + (base - least) * halfCosine(progress);
  }
}

Result<ScheduleKind> scheduleKind(std::string_view name) {
  for (ScheduleKind kind : {ScheduleKind::Constant, ScheduleKind::Cosine, ScheduleKind::Linear,
                            ScheduleKind::TimmCosine})
    if (nameOf(kind) == name)
      return kind;
  return Error{fmt::format(
      "no schedule is called '{}' (known: constant, cosine, linear, timm-cosine)", name)};
}

std::string_view nameOf(ScheduleKind kind) {
  switch (kind) {
  case ScheduleKind::Constant:
    return "constant";
  case ScheduleKind::Cosine:
    return "cosine";
  case ScheduleKind::Linear:
    return "linear";
  case ScheduleKind::TimmCosine:
    return "timm-cosine";
  }
  return "";
}

} // namespace hybrid::rt
