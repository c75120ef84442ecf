//===- Vector.h - 64-byte vectors and their elementary functions ----------===//
//
// The vocabulary of the CPU kernels: a vector of 16 floats or 8 doubles, whose lanes are contiguous
// channels (or queries, in attention). LLVM splits the vectors on machines with narrower registers.
// Nothing here needs a library except the f64 functions, which call libm lane by lane: f64 serves
// gradient checks, not speed. Compiled without -ffast-math, so that NaN and infinity propagate;
// sums are reassociated by hand where that pays.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

#define HYBRID_INLINE static inline __attribute__((always_inline))
/// For lambdas, so that the constants of a specialised kernel reach their bodies.
#define HYBRID_INLINE_LAMBDA __attribute__((always_inline))
#define HYBRID_NOINLINE static __attribute__((noinline))
#define HYBRID_UNROLL _Pragma("clang loop unroll(full)")

/// Defines the f32 and f64 entry points of the kernel template `name`, which computes one item.
#define HYBRID_KERNEL(name, Params)                                                                \
  HYBRID_ENTRY(name, float, hybrid_##name##_f32, Params)                                           \
  HYBRID_ENTRY(name, double, hybrid_##name##_f64, Params)
#define HYBRID_ENTRY(name, T, symbol, Params)                                                      \
  extern "C" void symbol(int64_t lo, int64_t hi, void *const *buffers, void *scratch,              \
                         const Params *params, uint64_t rounded) {                                 \
    for (int64_t item = lo; item < hi; ++item)                                                     \
      name<T>(item, hybrid::cpu::Buffers{buffers, scratch, rounded}, *params);                     \
  }

namespace hybrid::cpu {

/// What a kernel is given: the buffers of its contract, and the scratch memory of its thread.
struct Buffers {
  void *const *buffers;
  void *memory;
  uint64_t rounded; // a bit each: which lie in memory as bf16 (Activation.h)

  void *operator[](int64_t index) const { return buffers[index]; }
  template <typename T> T *at(int64_t index) const { return static_cast<T *>(buffers[index]); }
  template <typename T> T *scratch() const { return static_cast<T *>(memory); }
};

template <typename T> struct VectorTraits;

template <> struct VectorTraits<float> {
  typedef float Values __attribute__((ext_vector_type(16)));
  typedef float Unaligned __attribute__((ext_vector_type(16), aligned(4), may_alias));
  typedef int32_t Integers __attribute__((ext_vector_type(16)));
  typedef bool Mask __attribute__((ext_vector_type(16)));
  using Integer = int32_t;
  static constexpr Integers laneNumbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};

template <> struct VectorTraits<double> {
  typedef double Values __attribute__((ext_vector_type(8)));
  typedef double Unaligned __attribute__((ext_vector_type(8), aligned(8), may_alias));
  typedef int64_t Integers __attribute__((ext_vector_type(8)));
  typedef bool Mask __attribute__((ext_vector_type(8)));
  using Integer = int64_t;
  static constexpr Integers laneNumbers = {0, 1, 2, 3, 4, 5, 6, 7};
};

template <typename T> using Vector = typename VectorTraits<T>::Values;
template <typename T> using Integers = typename VectorTraits<T>::Integers;

HYBRID_INLINE int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }
HYBRID_INLINE int64_t maximum(int64_t a, int64_t b) { return a > b ? a : b; }

template <typename T> HYBRID_INLINE Vector<T> splat(T value) { return (Vector<T>)(value); }

template <typename T> HYBRID_INLINE Vector<T> load(const T *from) {
  return *reinterpret_cast<const typename VectorTraits<T>::Unaligned *>(from);
}
template <typename T> HYBRID_INLINE void store(T *to, Vector<T> value) {
  *reinterpret_cast<typename VectorTraits<T>::Unaligned *>(to) = value;
}

template <typename T> HYBRID_INLINE typename VectorTraits<T>::Mask firstLanes(int64_t count) {
  Integers<T> limit = (Integers<T>)(static_cast<typename VectorTraits<T>::Integer>(count));
  return __builtin_convertvector(VectorTraits<T>::laneNumbers < limit,
                                 typename VectorTraits<T>::Mask);
}

/// The first `count` lanes, zero in the others; never touches memory behind them.
template <typename T> HYBRID_INLINE Vector<T> loadPart(const T *from, int64_t count) {
  if (count >= lanes<T>)
    return load(from);
  return __builtin_masked_load(firstLanes<T>(count), from, splat(T(0)));
}
template <typename T> HYBRID_INLINE void storePart(T *to, Vector<T> value, int64_t count) {
  if (count >= lanes<T>)
    store(to, value);
  else
    __builtin_masked_store(firstLanes<T>(count), value, to);
}

/// Valid lanes of the block of `columns` that starts at `first`. A compile-time constant when every
/// block is full, so that specialised code holds no masked path.
template <typename T> HYBRID_INLINE int64_t lanesAt(int64_t first, int64_t columns) {
  return columns % lanes<T> == 0 ? lanes<T> : minimum(lanes<T>, columns - first);
}

HYBRID_INLINE float sumOfLanes(Vector<float> v) {
  typedef float Half __attribute__((ext_vector_type(8)));
  typedef float Quarter __attribute__((ext_vector_type(4)));
  Half half = v.lo + v.hi;
  Quarter quarter = half.lo + half.hi;
  return (quarter.x + quarter.z) + (quarter.y + quarter.w);
}
HYBRID_INLINE double sumOfLanes(Vector<double> v) {
  typedef double Half __attribute__((ext_vector_type(4)));
  Half half = v.lo + v.hi;
  return (half.x + half.z) + (half.y + half.w);
}

/// NaN in either operand may be dropped: follow it with something that sees the operands again.
template <typename T> HYBRID_INLINE Vector<T> larger(Vector<T> a, Vector<T> b) {
  return a > b ? a : b;
}
template <typename T> HYBRID_INLINE T largestLane(Vector<T> v) {
  T result = v[0];
  HYBRID_UNROLL
  for (int64_t i = 1; i < lanes<T>; ++i)
    result = v[i] > result ? v[i] : result;
  return result;
}

template <typename T> HYBRID_INLINE Vector<T> squareRoot(Vector<T> v) {
  return __builtin_elementwise_sqrt(v);
}
HYBRID_INLINE float squareRoot(float v) { return __builtin_sqrtf(v); }
HYBRID_INLINE double squareRoot(double v) { return __builtin_sqrt(v); }

/// 2^n for the integral floats n in [-252, 254], as two factors that are both normal numbers.
HYBRID_INLINE Vector<float> scaleByPowerOfTwo(Vector<float> v, Integers<float> n) {
  Integers<float> half = n >> 1, rest = n - half;
  return v * __builtin_bit_cast(Vector<float>, (half + 127) << 23) *
         __builtin_bit_cast(Vector<float>, (rest + 127) << 23);
}

/// e^v within 1 ulp or so (relative error below 1.2e-7). Overflows to infinity, underflows
/// gradually.
HYBRID_INLINE Vector<float> exponential(Vector<float> v) {
  // Adding and taking away 1.5 * 2^23 rounds to the nearest integer.
  const float shift = 12582912.0f;
  Vector<float> x = v > 90.0f ? splat(90.0f) : v; // comparisons are false for NaN, which stays
  x = x < -105.0f ? splat(-105.0f) : x;
  Vector<float> rounded = x * 1.44269502f + shift;
  Integers<float> n = __builtin_bit_cast(Integers<float>, rounded) - 0x4B400000;
  rounded -= shift;
  Vector<float> r = x - rounded * 0.693145752f;
  r = r - rounded * 1.42860677e-6f;
  // 1 + r + r^2 q(r), q fitted to |r| <= ln(2)/2.
  Vector<float> q = splat(0.0013814608100801706f);
  q = q * r + 0.008368710987269878f;
  q = q * r + 0.04166838899254799f;
  q = q * r + 0.1666652113199234f;
  q = q * r + 0.49999994039535522f;
  return scaleByPowerOfTwo(q * (r * r) + r + 1.0f, n);
}
HYBRID_INLINE Vector<double> exponential(Vector<double> v) {
  for (int i = 0; i < 8; ++i)
    v[i] = __builtin_exp(v[i]);
  return v;
}

/// 2^v for v <= 0; below 2^-126 it is 0. Relative error below 1.2e-7. What softmax needs, and no
/// more.
HYBRID_INLINE Vector<float> powerOfTwo(Vector<float> v) {
  const float shift = 12582912.0f;
  Vector<float> x = v < -126.0f ? splat(-126.0f) : v;
  Vector<float> rounded = x + shift;
  Integers<float> n = __builtin_bit_cast(Integers<float>, rounded) - 0x4B400000;
  Vector<float> r = x - (rounded - shift);
  Vector<float> q = splat(0.00015353360504377633f);
  q = q * r + 0.0013398875016719103f;
  q = q * r + 0.00961843691766262f;
  q = q * r + 0.055503323674201965f;
  q = q * r + 0.24022647738456726f;
  q = q * r + 0.6931471824645996f;
  q = q * r + 1.0f;
  Vector<float> scaled = q * __builtin_bit_cast(Vector<float>, (n + 127) << 23);
  return v < -126.0f ? splat(0.0f) : scaled;
}
HYBRID_INLINE Vector<double> powerOfTwo(Vector<double> v) {
  for (int i = 0; i < 8; ++i)
    v[i] = __builtin_exp2(v[i]);
  return v;
}

/// ln v within about 1 ulp for normal v > 0, and nothing of use for any other v.
HYBRID_INLINE Vector<float> logarithm(Vector<float> v) {
  Integers<float> bits = __builtin_bit_cast(Integers<float>, v);
  // Exponent such that the mantissa lies in [sqrt(1/2), sqrt(2)).
  Integers<float> e = (bits - 0x3F3504F3) >> 23;
  Vector<float> mantissa = __builtin_bit_cast(Vector<float>, bits - (e << 23));
  Vector<float> n = __builtin_convertvector(e, Vector<float>);
  Vector<float> z = mantissa - 1.0f;
  // z - z^2/2 + z^3 q(z).
  Vector<float> q = splat(0.06746601313352585f);
  q = q * z - 0.11675640940666199f;
  q = q * z + 0.11888174712657928f;
  q = q * z - 0.12405591458082199f;
  q = q * z + 0.14219550788402557f;
  q = q * z - 0.1666799634695053f;
  q = q * z + 0.2000211924314499f;
  q = q * z - 0.25000008940696716f;
  q = q * z + 0.3333331346511841f;
  Vector<float> square = z * z;
  Vector<float> low = q * (square * z) + n * 1.42860677e-6f - square * 0.5f;
  return n * 0.693145752f + (low + z);
}

HYBRID_INLINE Vector<double> logarithm(Vector<double> v) {
  for (int i = 0; i < 8; ++i)
    v[i] = __builtin_log(v[i]);
  return v;
}

/// ln of one number; calls libm.
HYBRID_INLINE float logarithmOf(float v) { return static_cast<float>(__builtin_log(v)); }
HYBRID_INLINE double logarithmOf(double v) { return __builtin_log(v); }

/// cos and sin of 2 pi u, u in [0, 1).
HYBRID_INLINE void cosineAndSine(Vector<float> u, Vector<float> &cosine, Vector<float> &sine) {
  const float shift = 12582912.0f;
  Vector<float> turned = u * 4.0f;
  Vector<float> rounded = turned + shift;
  Integers<float> quadrant = __builtin_bit_cast(Integers<float>, rounded) - 0x4B400000;
  Vector<float> t = (turned - (rounded - shift)) * 1.57079637f; // the difference is exact
  Vector<float> s = t * t;
  Vector<float> sinT = splat(-0.00019517297914717346f);
  sinT = sinT * s + 0.008332177996635437f;
  sinT = sinT * s - 0.16666655242443085f;
  sinT = sinT * (s * t) + t;
  Vector<float> cosT = splat(2.443845005473122e-05f);
  cosT = cosT * s - 0.001388736767694354f;
  cosT = cosT * s + 0.04166664555668831f;
  cosT = cosT * (s * s) - s * 0.5f + 1.0f;
  Integers<float> odd = -(quadrant & 1);
  Vector<float> c = odd ? sinT : cosT, w = odd ? cosT : sinT;
  // Quadrants 1 and 2 negate the cosine, 2 and 3 the sine.
  cosine = -((quadrant + 1) >> 1 & 1) ? -c : c;
  sine = -(quadrant >> 1 & 1) ? -w : w;
}

} // namespace hybrid::cpu
