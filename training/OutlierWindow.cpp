//===- OutlierWindow.cpp - how far a number is from those before it -----------------===//
#include "training/OutlierWindow.h"
#include <cmath>

namespace hybrid::rt {

// From the numbers themselves and not from running sums: a resumed run adds in the same order.
double OutlierWindow::add(double value) {
  if (last.size() == size)
    last.erase(last.begin());
  last.push_back(value);
  if (last.size() < size)
    return 0;
  double sum = 0, squares = 0;
  for (double each : last)
    sum += each;
  const double mean = sum / static_cast<double>(size);
  for (double each : last)
    squares += (each - mean) * (each - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(size));
  constexpr double rounding = 1e-12; // what equal numbers differ from their mean by
  return deviation > rounding * std::abs(mean) ? (value - mean) / deviation : 0;
}

void OutlierWindow::restore(std::vector<double> values) {
  if (values.size() > size)
    values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(size));
  last = std::move(values);
}

} // namespace hybrid::rt
