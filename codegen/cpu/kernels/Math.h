//===- Math.h - scalar functions that vectorise ------------------------------===//
//
// Branch-free f32 exponential and logarithm: loops over them become vector code. f64 calls the C
// library (gradient checks only).
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid::cpu {

/// e^x, relative error below 2e-7; 0 below -87.3, infinity above 88.7, NaN stays NaN.
inline float exponential(float x) {
  float clamped = x < -87.3f ? -87.3f : x > 88.7f ? 88.7f : x;
  // x = n ln 2 + r: n by adding and subtracting 1.5 * 2^23.
  float shifted = __builtin_fmaf(clamped, 1.44269504f, 12582912.0f);
  float n = shifted - 12582912.0f;
  float r = __builtin_fmaf(n, -0.693145752f, clamped);
  r = __builtin_fmaf(n, -1.42860677e-06f, r);
  float p = 1.98756915e-4f;
  p = __builtin_fmaf(p, r, 1.39819995e-3f);
  p = __builtin_fmaf(p, r, 8.33345205e-3f);
  p = __builtin_fmaf(p, r, 4.16657962e-2f);
  p = __builtin_fmaf(p, r, 1.66666657e-1f);
  p = __builtin_fmaf(p, r, 0.5f);
  float value = __builtin_fmaf(r * r, p, r) + 1.0f;
  // 2^n in two factors, so that n = 128 does not overflow the exponent field.
  int32_t exponent = static_cast<int32_t>(n), half = exponent >> 1;
  float scaled = value * __builtin_bit_cast(float, (half + 127) << 23) *
                 __builtin_bit_cast(float, (exponent - half + 127) << 23);
  return x < -87.3f ? 0.0f : x > 88.7f ? __builtin_inff() : x != x ? x : scaled;
}
inline double exponential(double x) { return __builtin_exp(x); }

inline float squareRoot(float x) { return __builtin_sqrtf(x); }
inline double squareRoot(double x) { return __builtin_sqrt(x); }

/// Scalar logarithm: called once a row.
inline float logarithm(float x) {
  return static_cast<float>(__builtin_log(static_cast<double>(x)));
}
inline double logarithm(double x) { return __builtin_log(x); }

} // namespace hybrid::cpu
