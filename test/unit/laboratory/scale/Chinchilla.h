//===- Chinchilla.h - trainings drawn from a published law --------------------------===//
#pragma once
#include "laboratory/scale/Fit.h"
#include <cmath>
#include <random>

namespace hybrid::rt::lab::scale {

/// Hoffmann et al. 2022, equation 10.
inline ParametricLaw chinchilla() { return {1.69, std::log(406.4), std::log(410.7), 0.34, 0.28}; }

struct Plan {
  double least = 1e18, factor = 3.1622776601683795; // budgets
  int budgets = 5, sizes = 8;
  double ratio = 1.5;  // of neighbouring sizes
  double offset = 1.0; // of the middle size from the best one
};

/// Trainings of 6 N D FLOPs about the best size of each budget, whose log losses are off the law's
/// by a normal deviation of `noise`.
inline std::vector<Point> drawPoints(const Plan &plan, double noise, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<Point> points;
  for (int b = 0; b < plan.budgets; ++b) {
    double flops = plan.least * std::pow(plan.factor, b);
    for (int s = 0; s < plan.sizes; ++s) {
      double params = chinchilla().optimalSize(flops, 6) * plan.offset *
                      std::pow(plan.ratio, s - (plan.sizes - 1) / 2.0);
      double tokens = flops / 6 / params;
      double loss = chinchilla().loss(params, tokens) * std::exp(noise * normal(generator));
      points.push_back({"", flops, params, tokens, loss});
    }
  }
  return points;
}

} // namespace hybrid::rt::lab::scale
