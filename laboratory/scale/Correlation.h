//===- Correlation.h - how two lists of numbers go together ----------------------------===//
#pragma once
#include "laboratory/scale/Estimate.h"
#include <span>

namespace hybrid::rt::lab::scale {

/// Pearson's linear correlation, with Fisher's interval: atanh(r) is normal with deviation
/// 1 / sqrt(n - 3). Not finite where one list does not vary; no interval of fewer than 4 pairs.
Estimate linearCorrelation(std::span<const double> x, std::span<const double> y, double level);

/// Spearman's rank correlation, equal numbers sharing the mean of their ranks; its interval as
/// above with variance 1.06 / (n - 3) (Fieller, Hartley and Pearson 1957).
Estimate rankCorrelation(std::span<const double> x, std::span<const double> y, double level);

} // namespace hybrid::rt::lab::scale
