//===- Estimate.cpp - a fitted number with its interval ----------------------------===//
#include "laboratory/scale/Estimate.h"
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace hybrid::rt::lab::scale {
namespace {

/// Fewer samples say nothing about a tail of 2.5 %.
constexpr size_t fewestSamples = 40;
/// A point that alone decides a coefficient has no residual to enlarge.
constexpr double largestLeverage = 0.95;

} // namespace

std::optional<Interval> middle(std::vector<double> drawn, double level) {
  std::erase_if(drawn, [](double value) { return !std::isfinite(value); });
  if (drawn.size() < fewestSamples)
    return std::nullopt;
  std::sort(drawn.begin(), drawn.end());
  auto quantile = [&](double share) {
    double place = share * static_cast<double>(drawn.size() - 1);
    size_t below = static_cast<size_t>(place);
    double above = drawn[std::min(below + 1, drawn.size() - 1)];
    return drawn[below] + (place - static_cast<double>(below)) * (above - drawn[below]);
  };
  return Interval{quantile((1 - level) / 2), quantile((1 + level) / 2)};
}

void Residuals::add(double residual, double leverage) {
  values.push_back(residual / std::sqrt(1 - std::min(leverage, largestLeverage)));
}

void Residuals::settle(size_t free) {
  double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                static_cast<double>(std::max<size_t>(values.size(), 1));
  double degrees = static_cast<double>(free);
  for (double &value : values)
    value = (value - mean) * std::sqrt(degrees / (degrees - 2));
}

void Residuals::smooth() {
  if (values.size() < 2)
    return;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  double squares = 0, count = static_cast<double>(values.size());
  for (double value : values)
    squares += value * value;
  double deviation = std::sqrt(squares / (count - 1));
  double quartiles = sorted[3 * sorted.size() / 4] - sorted[sorted.size() / 4];
  // The quartiles of a normal density are 1.34 deviations apart; Silverman 1986, equation 3.31.
  width = 0.9 * std::min(deviation, quartiles / 1.34) * std::pow(count, -0.2);
}

double Residuals::draw(Rng &rng) const {
  double residual = values[rng.below(values.size())];
  if (width == 0)
    return residual;
  double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
  return residual + width * radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

} // namespace hybrid::rt::lab::scale
