//===- Distributions.h - random numbers that are not uniform ------------------------===//
#pragma once
#include "training/Rng.h"
#include <cmath>
#include <numbers>
#include <utility>

namespace hybrid::rt {

/// Two independent standard normal numbers (Box and Muller 1958) out of two uniform ones.
inline std::pair<double, double> drawNormals(Rng &rng) {
  double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
  double angle = 2 * std::numbers::pi * rng.uniform();
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Of a gamma distribution of scale 1: the cube of a shifted normal number, taken with the
/// probability that makes it one (Marsaglia and Tsang 2000); for a shape below 1 one of shape + 1
/// is made smaller, as they say in section 6.
inline double drawGamma(Rng &rng, double shape) {
  if (shape < 1) {
    const double larger = drawGamma(rng, shape + 1);
    return larger * std::pow(1 - rng.uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double normal = drawNormals(rng).first, root = 1 + c * normal, cube = root * root * root;
    if (root > 0 &&
        std::log(1 - rng.uniform()) < normal * normal / 2 + d - d * cube + d * std::log(cube))
      return d * cube;
  }
}

/// Of the beta distribution of `a` and `b`, both above 0: from 0 to 1, on average a / (a + b).
inline double drawBeta(Rng &rng, double a, double b) {
  const double first = drawGamma(rng, a), second = drawGamma(rng, b);
  return first + second > 0 ? first / (first + second) : a / (a + b);
}

} // namespace hybrid::rt
