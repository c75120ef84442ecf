//===- Logistic.cuh - the logistic function and its integral, branch-free ---===//
//
// What Prelude.cuh has of them is exact to the last bits for all arguments, at the price of
// branches, across which no instruction moves. Kernels that take one of each element have these:
// relative errors are within 2^-21 (1 + |x| / 8), of the rounding of x log2(e).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// 1 / (1 + e^-x).
HYBRID_DEVICE float logistic(float x) {
  return approximateReciprocal(1.f + exponential2(x * -1.44269504f));
}
HYBRID_DEVICE double logistic(double x) { return sigmoid(x); }

/// log(1 + e^x), and its derivative.
HYBRID_DEVICE float softplus(float x, float &slope) {
  const float e = exponential2(absolute(x) * -1.44269504f); // in [0, 1]
  // log(1 + e) / e there, of least relative error.
  float ratio = 0.00523269502f;
  ratio = multiplyAdd(ratio, e, -0.0295052417f);
  ratio = multiplyAdd(ratio, e, 0.0782259554f);
  ratio = multiplyAdd(ratio, e, -0.136632457f);
  ratio = multiplyAdd(ratio, e, 0.191060066f);
  ratio = multiplyAdd(ratio, e, -0.24842982f);
  ratio = multiplyAdd(ratio, e, 0.333190978f);
  ratio = multiplyAdd(ratio, e, -0.499994934f);
  ratio = multiplyAdd(ratio, e, 0.99999994f);
  slope = (x < 0.f ? e : 1.f) * approximateReciprocal(1.f + e);
  return multiplyAdd(ratio, e, maximum(x, 0.f));
}
HYBRID_DEVICE double softplus(double x, double &slope) {
  slope = sigmoid(x);
  return softplus(x);
}

} // namespace hybrid::cuda
