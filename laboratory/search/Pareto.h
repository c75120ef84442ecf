//===- Pareto.h - what no other point is better than in every respect --------===//
//
// A point is measured by its score (more is better), its FLOPs a token and its state (less is
// better). Scores are those of rungs of a search, which train for different lengths: two points are
// compared at the longest that both were trained for, so that unlike scores never are.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hybrid::rt::lab {

struct Measured {
  std::vector<std::optional<double>> scores; // one a rung; nothing where it was not trained
  double flopsPerToken = 0;
  double stateElements = 0; // without end where it is not known
};

/// Whether `a` is at least as good as `b` in every respect and better in one. False when they have
/// no rung in common.
bool dominates(const Measured &a, const Measured &b);

/// The points that no other dominates, in increasing order. A point without a score is none of
/// them.
std::vector<size_t> paretoFront(std::span<const Measured> points);

/// How many fronts must be taken away before a point is in the front: 0 for the front itself.
/// Points without a score come last.
std::vector<size_t> paretoRanks(std::span<const Measured> points);

} // namespace hybrid::rt::lab
