//===- Pareto.cpp - what no other point is better than in every respect ------===//
#include "laboratory/search/Pareto.h"
#include <algorithm>
#include <limits>

namespace hybrid::rt::lab {
namespace {

bool hasScore(const Measured &point) {
  return std::any_of(point.scores.begin(), point.scores.end(),
                     [](const auto &score) { return score.has_value(); });
}

} // namespace

bool dominates(const Measured &a, const Measured &b) {
  size_t rung = std::min(a.scores.size(), b.scores.size());
  while (rung > 0 && !(a.scores[rung - 1] && b.scores[rung - 1]))
    --rung;
  if (rung == 0)
    return false;
  double left = *a.scores[rung - 1], right = *b.scores[rung - 1];
  bool asGood =
      left >= right && a.flopsPerToken <= b.flopsPerToken && a.stateElements <= b.stateElements;
  return asGood &&
         (left > right || a.flopsPerToken < b.flopsPerToken || a.stateElements < b.stateElements);
}

std::vector<size_t> paretoFront(std::span<const Measured> points) {
  std::vector<size_t> front;
  for (size_t i = 0; i < points.size(); ++i)
    if (hasScore(points[i]) &&
        std::none_of(points.begin(), points.end(),
                     [&](const Measured &other) { return dominates(other, points[i]); }))
      front.push_back(i);
  return front;
}

std::vector<size_t> paretoRanks(std::span<const Measured> points) {
  constexpr size_t none = std::numeric_limits<size_t>::max();
  std::vector<size_t> ranks(points.size(), none), left;
  for (size_t i = 0; i < points.size(); ++i)
    if (hasScore(points[i]))
      left.push_back(i);
  for (size_t rank = 0; !left.empty(); ++rank) {
    std::vector<size_t> rest;
    for (size_t i : left) {
      bool dominated = std::any_of(left.begin(), left.end(), [&](size_t other) {
        return dominates(points[other], points[i]);
      });
      if (dominated)
        rest.push_back(i);
      else
        ranks[i] = rank;
    }
    // Points of different rungs could dominate one another in a circle; those are equals.
    if (rest.size() == left.size()) {
      for (size_t i : rest)
        ranks[i] = rank;
      break;
    }
    left = std::move(rest);
  }
  return ranks;
}

} // namespace hybrid::rt::lab
