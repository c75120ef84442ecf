//===- Parametric.h - Chinchilla's law of loss by size and tokens ------------------===//
//
// L(N, D) = E + A / N^alpha + B / D^beta (Hoffmann et al. 2022, section 3.3 and appendix D.3),
// fitted as there: the sum of Huber losses (delta 1e-3) of log L, its predicted value a
// log-sum-exp, minimised by L-BFGS from a grid of starts. N and D are taken in logarithms about
// their means, which makes the coefficients nearly independent.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/scale/Points.h"
#include <array>
#include <span>

namespace hybrid::rt::lab::scale {

struct ParametricLaw {
  double E = 0, logA = 0, logB = 0, alpha = 0, beta = 0;

  double loss(double params, double tokens) const;
  /// Exponents of the sizes and tokens that are optimal for C FLOPs: N* ~ C^a, D* ~ C^b (its
  /// equation 4).
  double sizeExponent() const { return beta / (alpha + beta); }
  double tokenExponent() const { return alpha / (alpha + beta); }
  /// The size that is optimal where a training takes `flopsEach` x size x tokens FLOPs.
  double optimalSize(double flops, double flopsEach) const;
};

/// Points as the fit takes them, and the objective.
class ParametricFit {
public:
  explicit ParametricFit(const std::vector<Point> &points);

  struct Outcome {
    ParametricLaw law;
    double objective = 0; // mean Huber loss over delta^2
    bool converged = false;
    std::array<double, 5> centred{}; // the coefficients as the fit takes them: a start for another
  };
  /// From every start of the grid; `starts` of them.
  Outcome fromGrid() const;
  size_t starts() const;
  /// From one start, with other losses (logarithms, one a point).
  Outcome from(const std::array<double, 5> &start, std::span<const double> logLosses) const;

  const std::vector<double> &logLosses() const { return z; }
  std::vector<double> predicted(const Outcome &outcome) const; // logarithms
  /// The diagonal of the hat matrix of the law, linear about the outcome.
  std::vector<double> leverages(const Outcome &outcome) const;

private:
  std::vector<std::array<double, 5>> grid() const;
  Outcome minimise(std::array<double, 5> start, std::span<const double> logLosses,
                   int iterations) const;
  double meanX = 0, meanY = 0;
  std::vector<double> x, y, z; // log N and log D about their means, log loss
};

} // namespace hybrid::rt::lab::scale
