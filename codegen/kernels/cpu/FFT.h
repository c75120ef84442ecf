//===- FFT.h - complex transforms over lanes, in place, in permuted order -===//
//
// One transform works on `lanes` independent signals at once: point i of a buffer is a vector of
// real parts, then a vector of imaginary parts. Forward transforms decimate in frequency and leave
// the spectrum permuted; inverse transforms decimate in time and take it so. Whoever multiplies
// spectra never needs to know the order, so nothing is ever bit-reversed.
//
// Products are modulo z^n = i (right-angle convolution: Crandall and Pomerance 2005, section 9.5):
// n complex points x_t + i x_(t+n) hold 2 n real ones, and as long as the product of two real
// signals is not longer than 2 n, its points t < n are the real parts of the result and the points
// n + t the imaginary ones. So a causal convolution of n points needs a transform of n points, for
// each sequence alone, and its zero padding costs nothing: the input is real, and so is what is
// used of the output. The roots of z^n = i are e^(-2 pi i (k - 1/4) / n); the quarter goes into the
// constants and twiddles of the outermost stage, and all below is the ordinary transform.
//
// A convolution goes down and up again depth first: a block is split by one stage, its parts are
// transformed, multiplied and transformed back while they lie in the nearest cache, and joined by
// the inverse stage. Stages have radix 8, or 4 over 32 and 128 points, and end in leaves of 8
// points that stay in registers for forward transform, product and inverse. Whole transforms have
// 32 points or more. The outermost stage asks the caller for points and hands them over, so that
// gates cost no pass of their own.
//
// Twiddle table of transforms up to n points, 5 n elements: at 2 s, for each power of two s <= n,
// the factors of the outermost stage of s points; at 4 n + 2 s, for 32 <= s <= n / 4, those of an
// inner stage.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "Vector.h"

namespace hybrid::cpu {

/// Of a power of two.
HYBRID_INLINE int64_t logarithmOfSize(int64_t size) {
  return 63 - __builtin_clzll(static_cast<unsigned long long>(size));
}

template <typename T> struct Complex {
  Vector<T> re, im;
};

template <typename T> HYBRID_INLINE Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T> HYBRID_INLINE Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T> HYBRID_INLINE Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// a conj(b).
template <typename T> HYBRID_INLINE Complex<T> timesConjugate(Complex<T> a, Complex<T> b) {
  return {a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
}

template <typename T> HYBRID_INLINE Complex<T> loadPoint(const T *data, int64_t point) {
  const T *at = data + point * 2 * lanes<T>;
  return {load(at), load(at + lanes<T>)};
}
template <typename T> HYBRID_INLINE void storePoint(T *data, int64_t point, Complex<T> value) {
  T *at = data + point * 2 * lanes<T>;
  store(at, value.re);
  store(at + lanes<T>, value.im);
}

/// Multiplies by the k-th factor of a row of twiddles, or by its conjugate.
template <bool inverse, typename T>
HYBRID_INLINE Complex<T> twiddled(Complex<T> a, const T *row, int64_t k) {
  T c = row[2 * k], s = row[2 * k + 1];
  if constexpr (inverse)
    s = -s;
  return {a.re * c - a.im * s, a.re * s + a.im * c};
}

/// Multiplies by -i, or by i in the inverse transform.
template <bool inverse, typename T> HYBRID_INLINE Complex<T> quarterTurn(Complex<T> a) {
  if constexpr (inverse)
    return {-a.im, a.re};
  else
    return {a.im, -a.re};
}

template <bool inverse, typename T>
HYBRID_INLINE void transform4(Complex<T> &a0, Complex<T> &a1, Complex<T> &a2, Complex<T> &a3) {
  Complex<T> t0 = a0 + a2, t1 = a0 - a2, t2 = a1 + a3, t3 = quarterTurn<inverse>(a1 - a3);
  a0 = t0 + t2;
  a1 = t1 + t3;
  a2 = t0 - t2;
  a3 = t1 - t3;
}

/// e^(i pi m / 16), m < 8: quarters of the steps of the outermost stage.
template <typename T>
constexpr T quarterSteps[8][2] = {{T(1), T(0)},
                                  {T(0.98078528040323044913), T(0.19509032201612826785)},
                                  {T(0.92387953251128675613), T(0.38268343236508977173)},
                                  {T(0.83146961230254523708), T(0.55557023301960222474)},
                                  {T(0.70710678118654752440), T(0.70710678118654752440)},
                                  {T(0.55557023301960222474), T(0.83146961230254523708)},
                                  {T(0.38268343236508977173), T(0.92387953251128675613)},
                                  {T(0.19509032201612826785), T(0.98078528040323044913)}};

/// Natural order in and out, sizes 4 and 8.
template <bool inverse, int size, typename T> HYBRID_INLINE void smallTransform(Complex<T> *a) {
  if constexpr (size == 4) {
    transform4<inverse>(a[0], a[1], a[2], a[3]);
  } else {
    static_assert(size == 8);
    const T root = T(0.70710678118654752440);
    Complex<T> e0 = a[0] + a[4], e1 = a[1] + a[5], e2 = a[2] + a[6], e3 = a[3] + a[7];
    Complex<T> o0 = a[0] - a[4], o1 = a[1] - a[5], o2 = a[2] - a[6], o3 = a[3] - a[7];
    // o_k times w_8^k.
    Complex<T> turned1 = o1 + quarterTurn<inverse>(o1);
    Complex<T> turned3 = quarterTurn<inverse>(o3) - o3;
    o1 = {turned1.re * root, turned1.im * root};
    o2 = quarterTurn<inverse>(o2);
    o3 = {turned3.re * root, turned3.im * root};
    transform4<inverse>(e0, e1, e2, e3);
    transform4<inverse>(o0, o1, o2, o3);
    a[0] = e0, a[1] = o0, a[2] = e1, a[3] = o1, a[4] = e2, a[5] = o2, a[6] = e3, a[7] = o3;
  }
}

/// One stage over `size` points: forward splits into `radix` blocks, inverse joins them.
template <bool inverse, int radix, typename T>
HYBRID_NOINLINE void stage(T *data, int64_t size, const T *row) {
  int64_t part = size / radix;
  for (int64_t j = 0; j < part; ++j, row += 2 * (radix - 1)) {
    Complex<T> a[radix];
    HYBRID_UNROLL
    for (int k = 0; k < radix; ++k) {
      a[k] = loadPoint(data, j + k * part);
      if (inverse && k)
        a[k] = twiddled<true>(a[k], row, k - 1);
    }
    smallTransform<inverse, radix>(a);
    HYBRID_UNROLL
    for (int k = 0; k < radix; ++k) {
      if (!inverse && k)
        a[k] = twiddled<false>(a[k], row, k - 1);
      storePoint(data, j + k * part, a[k]);
    }
  }
}

/// Radix of the stage over `size` >= 32 points, outermost or inner. More than 8 would walk through
/// the caller's rows at more places at once than caches and prefetchers follow.
HYBRID_INLINE int64_t stageRadix(int64_t size) { return size == 32 || size == 128 ? 4 : 8; }

template <bool inverse, typename T>
HYBRID_INLINE void anyStage(T *data, int64_t size, const T *row) {
  if (stageRadix(size) == 4)
    stage<inverse, 4>(data, size, row);
  else
    stage<inverse, 8>(data, size, row);
}

template <typename T> struct Twiddles {
  const T *outerBase, *innerBase;

  Twiddles(const void *table, int64_t transformSize)
      : outerBase(static_cast<const T *>(table)), innerBase(outerBase + 4 * transformSize) {}
  const T *outer(int64_t size) const { return outerBase + 2 * size; }
  const T *inner(int64_t size) const { return innerBase + 2 * size; }
};

/// What happens to a block between its forward and its inverse stages.
enum class Action {
  Forward,      // signal -> spectrum, no inverse
  Inverse,      // spectrum -> signal, no forward
  Convolve,     // signal *= filter
  Gradient,     // filterGradient (+)= conj(signal) cotangent; cotangent *= conj(filter)
  GradientAndS, // as Gradient, and signal *= filter, as the gradient of an output gate needs it
};

template <typename T> struct Signals {
  T *signal, *cotangent;
  const T *filter;
  T *filterGradient;
  bool accumulates; // or overwrites filterGradient

  Signals at(int64_t point) const {
    int64_t offset = point * 2 * lanes<T>;
    return {signal + offset, cotangent + offset, filter + offset, filterGradient + offset,
            accumulates};
  }
};

template <Action action, typename T> HYBRID_INLINE void leaf(const Signals<T> &s, Vector<T> skip) {
  constexpr int size = 8;
  Complex<T> a[size];
  HYBRID_UNROLL
  for (int i = 0; i < size; ++i)
    a[i] = loadPoint(s.signal, i);
  if constexpr (action != Action::Inverse)
    smallTransform<false, size>(a);
  if constexpr (action == Action::Convolve) {
    HYBRID_UNROLL
    for (int i = 0; i < size; ++i) {
      Complex<T> h = loadPoint(s.filter, i);
      h.re += skip;
      a[i] = a[i] * h;
    }
  }
  if constexpr (action == Action::Gradient || action == Action::GradientAndS) {
    Complex<T> b[size];
    HYBRID_UNROLL
    for (int i = 0; i < size; ++i)
      b[i] = loadPoint(s.cotangent, i);
    smallTransform<false, size>(b);
    HYBRID_UNROLL
    for (int i = 0; i < size; ++i) {
      Complex<T> h = loadPoint(s.filter, i);
      h.re += skip;
      Complex<T> product = timesConjugate(b[i], a[i]);
      storePoint(s.filterGradient, i,
                 s.accumulates ? loadPoint(s.filterGradient, i) + product : product);
      b[i] = timesConjugate(b[i], h);
      if constexpr (action == Action::GradientAndS)
        a[i] = a[i] * h;
    }
    smallTransform<true, size>(b);
    HYBRID_UNROLL
    for (int i = 0; i < size; ++i)
      storePoint(s.cotangent, i, b[i]);
  }
  if constexpr (action != Action::Gradient) {
    if constexpr (action != Action::Forward)
      smallTransform<true, size>(a);
    HYBRID_UNROLL
    for (int i = 0; i < size; ++i)
      storePoint(s.signal, i, a[i]);
  }
}

/// A block of 8 or of 32 and more points: forward, the action, and inverse. `skip` is added to the
/// filter.
template <Action action, typename T>
HYBRID_NOINLINE void transformBlock(const Signals<T> &s, int64_t size, Twiddles<T> table,
                                    const T *skip) {
  constexpr bool usesCotangent = action == Action::Gradient || action == Action::GradientAndS;
  constexpr bool joinsSignal = action != Action::Gradient && action != Action::Forward;
  Vector<T> added = load(skip);
  if (size == 8) {
    leaf<action>(s, added);
    return;
  }
  const T *row = table.inner(size);
  int64_t radix = stageRadix(size), part = size / radix;
  if constexpr (action != Action::Inverse)
    anyStage<false>(s.signal, size, row);
  if constexpr (usesCotangent)
    anyStage<false>(s.cotangent, size, row);
  for (int64_t k = 0; k < radix; ++k) {
    if (part == 8)
      leaf<action>(s.at(k * part), added);
    else
      transformBlock<action>(s.at(k * part), part, table, skip);
  }
  if constexpr (joinsSignal)
    anyStage<true>(s.signal, size, row);
  if constexpr (usesCotangent)
    anyStage<true>(s.cotangent, size, row);
}

/// Everything between the outermost stages.
template <Action action, typename T>
HYBRID_INLINE void transformParts(const Signals<T> &s, int64_t size, Twiddles<T> table,
                                  const T *skip) {
  int64_t radix = stageRadix(size), part = size / radix;
  for (int64_t k = 0; k < radix; ++k)
    transformBlock<action>(s.at(k * part), part, table, skip);
}

/// The outermost forward stage: `value(t)` gives point t, a Vector if it is real.
template <int radix, typename T, typename Value>
HYBRID_INLINE void firstStageOfRadix(T *data, int64_t size, const T *row, Value value) {
  int64_t part = size / radix;
  for (int64_t j = 0; j < part; ++j, row += 2 * radix) {
    Complex<T> a[radix];
    HYBRID_UNROLL
    for (int r = 0; r < radix; ++r) {
      auto v = value(j + r * part);
      const T *step = quarterSteps<T>[r * (8 / radix)], c = step[0], s = step[1];
      if constexpr (__is_same(decltype(v), Complex<T>))
        a[r] = r ? Complex<T>{v.re * c - v.im * s, v.re * s + v.im * c} : v;
      else
        a[r] = {r ? v * c : v, r ? v * s : splat(T(0))};
    }
    smallTransform<false, radix>(a);
    HYBRID_UNROLL
    for (int k = 0; k < radix; ++k)
      storePoint(data, j + k * part, twiddled<false>(a[k], row, k));
  }
}
template <typename T, typename Value>
HYBRID_INLINE void firstStage(T *data, int64_t size, Twiddles<T> table, Value value) {
  int64_t radix = stageRadix(size);
  if (radix == 4)
    firstStageOfRadix<4>(data, size, table.outer(size), value);
  else
    firstStageOfRadix<8>(data, size, table.outer(size), value);
}

/// The outermost inverse stage: hands every point to `use(t, value)`.
template <int radix, typename T, typename Use>
HYBRID_INLINE void lastStageOfRadix(const T *data, int64_t size, const T *row, Use use) {
  int64_t part = size / radix;
  for (int64_t j = 0; j < part; ++j, row += 2 * radix) {
    Complex<T> a[radix];
    HYBRID_UNROLL
    for (int k = 0; k < radix; ++k)
      a[k] = twiddled<true>(loadPoint(data, j + k * part), row, k);
    smallTransform<true, radix>(a);
    HYBRID_UNROLL
    for (int r = 0; r < radix; ++r) {
      const T *step = quarterSteps<T>[r * (8 / radix)], c = step[0], s = step[1];
      use(j + r * part,
          r ? Complex<T>{a[r].re * c + a[r].im * s, a[r].im * c - a[r].re * s} : a[r]);
    }
  }
}
template <typename T, typename Use>
HYBRID_INLINE void lastStage(const T *data, int64_t size, Twiddles<T> table, Use use) {
  int64_t radix = stageRadix(size);
  if (radix == 4)
    lastStageOfRadix<4>(data, size, table.outer(size), use);
  else
    lastStageOfRadix<8>(data, size, table.outer(size), use);
}

} // namespace hybrid::cpu
