//===- IsoFlop.h - the best size of a budget by a parabola --------------------------===//
//
// Trainings of equal FLOPs and different sizes lie on a curve with a minimum; a parabola of the
// loss in the logarithm of the size finds it (Hoffmann et al. 2022, section 3.2; Poli et al. 2024,
// section 4). Where the points do not show a minimum there is none, and it is said why.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/scale/Points.h"
#include <optional>
#include <span>
#include <string>

namespace hybrid::rt::lab::scale {

/// Where the loss of a budget is lowest.
struct Minimum {
  double params = 0, tokens = 0, loss = 0;
  double curvature = 0; // second derivative of the loss by log size
};

/// What the points of a budget do not show, in the order of the checks.
enum class Doubt { None, TooFew, Downwards, Edge };
const char *doubtName(Doubt doubt); // "too-few", "downwards", "edge"

/// The points of one budget.
class IsoFlop {
public:
  explicit IsoFlop(std::vector<Point> points);

  const std::vector<Point> &points() const { return members; }
  double flops() const { return budget; }
  size_t sizes() const { return distinctSizes; } // different ones
  std::vector<double> losses() const;

  struct Parabola {
    double level = 0, slope = 0, bend = 0; // of log size about its mean
  };
  /// Least squares; needs three sizes.
  Parabola fit(std::span<const double> losses) const;
  double at(const Parabola &parabola, size_t point) const;
  /// The diagonal of the hat matrix.
  std::vector<double> leverages() const;
  /// Of a parabola that opens upwards.
  Minimum minimum(const Parabola &parabola) const;

  /// Whether its points show a minimum. `why` says, for people, what is wrong.
  Doubt doubt(const Parabola &parabola, std::string &why) const;

private:
  std::vector<Point> members; // by size
  double budget = 0, meanX = 0;
  size_t distinctSizes = 0;
  std::vector<double> x; // log size about its mean
};

/// The budgets of a group's points, from the smallest: points whose FLOPs differ by no more than
/// `tolerance`, as a share, from the least of a budget are of that budget.
std::vector<IsoFlop> byBudget(std::vector<Point> points, double tolerance);

} // namespace hybrid::rt::lab::scale
