//===- Correlation.cpp - how two lists of numbers go together --------------------------===//
#include "laboratory/scale/Correlation.h"
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace hybrid::rt::lab::scale {
namespace {

/// Between minus and plus this lies `level` of a normal density.
double normalBound(double level) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < level ? low : high) = middle;
  }
  return low;
}

double meanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double pearson(std::span<const double> x, std::span<const double> y) {
  double meanX = meanOf(x), meanY = meanOf(y), xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - meanX) * (x[i] - meanX);
    yy += (y[i] - meanY) * (y[i] - meanY);
    xy += (x[i] - meanX) * (y[i] - meanY);
  }
  return std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0);
}

Estimate withInterval(double r, size_t count, double level, double variance) {
  Estimate estimate{r, {}};
  if (count < 4 || !std::isfinite(r))
    return estimate;
  double reach = normalBound(level) * std::sqrt(variance / static_cast<double>(count - 3));
  double z = std::atanh(r);
  estimate.interval = Interval{std::tanh(z - reach), std::tanh(z + reach)};
  return estimate;
}

std::vector<double> ranksOf(std::span<const double> values) {
  std::vector<double> ranks;
  for (double value : values) {
    auto below = std::count_if(values.begin(), values.end(), [&](double v) { return v < value; });
    auto equal = std::count(values.begin(), values.end(), value);
    ranks.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return ranks;
}

} // namespace

Estimate linearCorrelation(std::span<const double> x, std::span<const double> y, double level) {
  return withInterval(pearson(x, y), x.size(), level, 1);
}

Estimate rankCorrelation(std::span<const double> x, std::span<const double> y, double level) {
  return withInterval(pearson(ranksOf(x), ranksOf(y)), x.size(), level, 1.06);
}

} // namespace hybrid::rt::lab::scale
