//===- Schedule.h - learning rate as a function of the step -----------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace hybrid::rt {

enum class ScheduleKind : uint8_t {
  Constant,   // linear warm-up, then the base rate
  Cosine,     // linear warm-up, then half a cosine to the least rate over the remaining steps
  Linear,     // linear warm-up, then a straight line to the least rate
  TimmCosine, // timm's CosineLRScheduler: the cosine is not shifted by the warm-up, then the least
              // rate
};

struct Schedule {
  ScheduleKind kind = ScheduleKind::Cosine;
  double base = 1e-3, least = 1e-6;
  double warmupStart = 1e-6;     // TimmCosine only
  int64_t warmup = 0, total = 1; // steps

  /// The rate of step `step`, counted from 0. A warm-up of w steps starts at 0 (timm: at
  /// warmupStart) and reaches the base rate at step w.
  double at(int64_t step) const;
};

Result<ScheduleKind>
scheduleKind(std::string_view name); // "constant", "cosine", "linear", "timm-cosine"
std::string_view nameOf(ScheduleKind kind);

} // namespace hybrid::rt
