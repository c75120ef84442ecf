//===- Schedule.cpp - learning rate as a function of the step ---------------===//
#include "training/Schedule.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numbers>
#include <utility>
#include <vector>

namespace hybrid::rt {

constexpr std::pair<ScheduleKind, std::string_view> kinds[] = {
    {ScheduleKind::Constant, "constant"},
    {ScheduleKind::Cosine, "cosine"},
    {ScheduleKind::Linear, "linear"},
    {ScheduleKind::TimmCosine, "timm-cosine"},
    {ScheduleKind::InverseSqrt, "inverse-sqrt"},
    {ScheduleKind::Trapezoid, "trapezoid"},
    {ScheduleKind::Wsd, "wsd"},
};

constexpr std::pair<RampShape, std::string_view> shapes[] = {
    {RampShape::Linear, "linear"},
    {RampShape::Cosine, "cosine"},
    {RampShape::OneMinusSqrt, "1-sqrt"},
};

static double halfCosine(double progress) {
  return 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

/// What is left of the way down, `progress` of it behind.
static double left(RampShape shape, double progress) {
  switch (shape) {
  case RampShape::Linear:
    return 1.0 - progress;
  case RampShape::Cosine:
    return halfCosine(progress);
  case RampShape::OneMinusSqrt:
    return 1.0 - std::sqrt(progress);
  }
  return 0;
}

double Schedule::at(int64_t step) const {
  auto t = static_cast<double>(step), warm = static_cast<double>(warmup);
  double end = static_cast<double>(total);
  auto between = [&](double share) { return least + (base - least) * share; };
  if (kind == ScheduleKind::TimmCosine) {
    if (step < warmup)
      return warmupStart + t * (base - warmupStart) / warm;
    return step >= total ? least : between(halfCosine(t / end));
  }
  if (step < warmup)
    return kind == ScheduleKind::Wsd ? between(left(rise, 1.0 - t / warm)) : base * t / warm;
  const double progress = (t - warm) / std::max(1.0, end - warm);
  const int64_t falls = std::max(warmup, total - decay);
  switch (kind) {
  case ScheduleKind::Constant:
    return base;
  case ScheduleKind::Linear:
    return between(std::max(0.0, 1.0 - progress));
  case ScheduleKind::InverseSqrt: {
    const double scale = std::max(1.0, warm);
    return std::max(least, base * std::sqrt(scale / (t - warm + scale)));
  }
  case ScheduleKind::Trapezoid:
  case ScheduleKind::Wsd:
    if (step < falls)
      return base;
    if (step - falls >= decay)
      return least;
    return between(left(kind == ScheduleKind::Wsd ? fall : RampShape::Linear,
                        static_cast<double>(step - falls) / static_cast<double>(decay)));
  default:
    // Not held at the end: the common warm-up-cosine schedule goes on along the cosine as well.
    return between(halfCosine(progress));
  }
}

/// Of a table of values and their names.
template <typename T, size_t count>
static Result<T> valueCalled(std::string_view name,
                             const std::pair<T, std::string_view> (&table)[count],
                             const char *what) {
  std::vector<std::string_view> names;
  for (const auto &[value, known] : table) {
    if (known == name)
      return value;
    names.push_back(known);
  }
  return Error{fmt::format("no {} is called '{}' (known: {})", what, name, fmt::join(names, ", "))};
}

template <typename T, size_t count>
static std::string_view nameIn(const std::pair<T, std::string_view> (&table)[count], T value) {
  for (const auto &[known, name] : table)
    if (known == value)
      return name;
  return "";
}

Result<ScheduleKind> scheduleKind(std::string_view name) {
  return valueCalled(name, kinds, "schedule");
}
std::string_view nameOf(ScheduleKind kind) { return nameIn(kinds, kind); }

Result<RampShape> rampShape(std::string_view name) {
  return valueCalled(name, shapes, "shape of a schedule");
}
std::string_view nameOf(RampShape shape) { return nameIn(shapes, shape); }

} // namespace hybrid::rt
