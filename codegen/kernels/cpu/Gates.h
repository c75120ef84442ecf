//===- Gates.h - the functions of gates and steps, on vectors --------------===//
#pragma once
#include "Vector.h"

namespace hybrid::cpu {

/// σ(v) = 1 / (1 + e^-v).
template <typename T> HYBRID_INLINE Vector<T> logistic(Vector<T> v) {
  return T(1) / (T(1) + exponential(-v));
}

/// max(v, 0) + log1p(e^-|v|), to within about 2 ulp even where the result is tiny; `slope` is its
/// derivative, σ(v).
template <typename T> HYBRID_INLINE Vector<T> softplus(Vector<T> v, Vector<T> &slope) {
  const Vector<T> positive = v > T(0) ? v : splat(T(0)), magnitude = v > T(0) ? v : -v;
  const Vector<T> u = exponential(-magnitude), one = u + T(1);
  slope = (v > T(0) ? splat(T(1)) : u) / one;
  // What the rounding of 1 + u lost comes back to first order; 1 - u/2 stands for 1 / (1 + u),
  // which matters only where u is small.
  return positive + (logarithm(one) + (u - (one - T(1))) * (T(1) - T(0.5) * u));
}

} // namespace hybrid::cpu
