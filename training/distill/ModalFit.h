//===- ModalFit.h - a filter as a sum of damped oscillations -------------------===//
//
// A filter that is a sum of n damped oscillations is the response of a recurrence with n complex
// numbers. Of a free filter the Hankel matrix h[i + j] says how near one comes (its singular values
// behind the n-th: Adamyan, Arov and Krein 1971), and its leading singular vectors give the poles:
// a shift by one position turns each oscillation by its own pole (Kung 1978; Roy and Kailath 1989,
// "ESPRIT"). The amplitudes are a least squares problem then, and all numbers together are refined
// by Levenberg and Marquardt's method. See Massaroli et al. 2023, section 3.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hybrid::rt::distill {

/// Re((re + i im) e^((-softplus(rate) + i angle) t)), as modal_poles of models/std has its numbers.
struct Mode {
  double rate = 0, angle = 0, re = 0, im = 0;
};

struct ModalFit {
  std::vector<Mode> modes; // as many as were asked for; those that are not needed are zero
  double error = 0;        // |h - fit| / |h|, both as square roots of sums of squares
};

/// Fits one filter with any number of modes.
class ModalFitter {
public:
  /// Of at least two finite numbers; `mostModes` is the largest number that fit() is asked for.
  ModalFitter(std::span<const double> filter, int64_t mostModes);
  ~ModalFitter();
  ModalFitter(ModalFitter &&) noexcept;

  /// With at least one mode.
  ModalFit fit(int64_t modes) const;

private:
  struct State;
  std::unique_ptr<const State> state;
};

/// What the modes give at t = 0, ..., length - 1.
std::vector<double> responseOf(std::span<const Mode> modes, int64_t length);

} // namespace hybrid::rt::distill
