//===- Gates.h - the functions of gates and steps, on vectors --------------===//
#pragma once
#include "Vector.h"

namespace hybrid::cpu {

/// σ(v) = 1 / (1 + e^-v).
template <typename T> HYBRID_INLINE Vector<T> logistic(Vector<T> v) {
  return T(1) / (T(1) + exponential(-v));
}

/// max(v, 0) + log1p(e^-|v|), to within about 2 ulp even where the result is tiny.
template <typename T> HYBRID_INLINE Vector<T> softplus(Vector<T> v) {
  const Vector<T> positive = v > T(0) ? v : splat(T(0)), magnitude = v > T(0) ? v : -v;
  const Vector<T> u = exponential(-magnitude), one = u + T(1);
  // What the rounding of 1 + u lost is put back to first order.
  return positive + (logarithm(one) + (u - (one - T(1))) / one);
}

} // namespace hybrid::cpu
