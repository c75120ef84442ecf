//===- Schedule.h - learning rate as a function of the step -----------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace hybrid::rt {

enum class ScheduleKind : uint8_t {
  Constant,    // linear warm-up, then the base rate
  Cosine,      // linear warm-up, then half a cosine to the least rate over the remaining steps
  Linear,      // linear warm-up, then a straight line to the least rate
  TimmCosine,  // timm's CosineLRScheduler: the cosine is not shifted by the warm-up, then the least
               // rate
  InverseSqrt, // linear warm-up of w steps, then base * sqrt(w / step), not below the least rate
               // (Vaswani et al. 2017, equation 3)
  Trapezoid,   // linear warm-up, the base rate, a straight line to the least over the last steps
  Wsd,         // warm-up from the least rate, the base rate, a fall to the least over the last
               // steps, each of a shape (Hu et al. 2024, MiniCPM)
};

/// How a rate falls from the base rate to the least at x of the way; it rises as it falls, in
/// reverse.
enum class RampShape : uint8_t {
  Linear,       // 1 - x
  Cosine,       // (1 + cos(pi x)) / 2
  OneMinusSqrt, // 1 - sqrt(x)
};

struct Schedule {
  ScheduleKind kind = ScheduleKind::Cosine;
  double base = 1e-3, least = 1e-6;
  double warmupStart = 1e-6;     // TimmCosine only
  int64_t warmup = 0, total = 1; // steps
  int64_t decay = 0;             // the last steps; Trapezoid and Wsd only
  RampShape rise = RampShape::Linear, fall = RampShape::Linear; // Wsd only

  /// The rate of step `step`, counted from 0. A warm-up of w steps starts at 0 (timm: at
  /// warmupStart, Wsd: at the least rate) and reaches the base rate at step w. The first of the
  /// last steps has the base rate still; steps behind the last have the least.
  double at(int64_t step) const;
  /// Whether the schedule has last steps of its own, `decay`.
  bool decaysAtTheEnd() const {
    return kind == ScheduleKind::Trapezoid || kind == ScheduleKind::Wsd;
  }
};

/// "constant", "cosine", "linear", "timm-cosine", "inverse-sqrt", "trapezoid", "wsd".
Result<ScheduleKind> scheduleKind(std::string_view name);
std::string_view nameOf(ScheduleKind kind);
/// "linear", "cosine", "1-sqrt".
Result<RampShape> rampShape(std::string_view name);
std::string_view nameOf(RampShape shape);

} // namespace hybrid::rt
