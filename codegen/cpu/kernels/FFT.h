//===- FFT.h - complex transforms over lanes, in place, in permuted order -===//
//
// One transform works on `lanes` independent complex signals at once: point i of a buffer is a
// vector of real parts, then a vector of imaginary parts. Forward transforms decimate in frequency
// and leave the spectrum permuted; inverse transforms decimate in time and take it so. Whoever
// multiplies spectra never needs to know the order, so nothing is ever bit-reversed.
//
// A convolution goes down and up again depth first: a block is split by one stage, its parts are
// transformed, multiplied and transformed back while they lie in the nearest cache, and joined by
// the inverse stage. The last eight points stay in registers for forward transform, product and
// inverse. The outermost stage is always radix 4 and is given by the caller's load and store
// functions, which know what is zero padding and what is not needed. Below it: radix 8 while 32
// points or more are left, else radix 4, then leaves of 4 or 8 points. Whole transforms have 16
// points or more.
//
// Twiddle table of a transform of n points, 4 n elements: at 1.5 s, for each power of two s <= n,
// the factors w_s^j, w_s^2j, w_s^3j of the radix-4 stage of s points; at 3 n + 1.75 s, for 32 <= s
// <= n/4, those of the radix-8 stage. So one table serves every smaller transform as well.
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
HYBRID_NOINLINE void stage(T *data, int64_t size, const T *twiddles) {
  int64_t part = size / radix;
  for (int64_t j = 0; j < part; ++j) {
    const T *row = twiddles + j * 2 * (radix - 1);
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

template <typename T> struct Twiddles {
  const T *radix4Base, *radix8Base;

  Twiddles(const void *table, int64_t transformSize)
      : radix4Base(static_cast<const T *>(table)), radix8Base(radix4Base + 3 * transformSize) {}
  const T *radix4(int64_t size) const { return radix4Base + size + size / 2; }
  const T *radix8(int64_t size) const { return radix8Base + size + 3 * size / 4; }
};

/// What happens to a block between its forward and its inverse stages.
enum class Action {
  Forward,      // signal -> spectrum, no inverse
  Inverse,      // spectrum -> signal, no forward
  Convolve,     // signal *= filter
  Gradient,     // filterGradient += conj(signal) cotangent; cotangent *= conj(filter)
  GradientAndS, // as Gradient, and signal *= filter, as the gradient of an output gate needs it
};

template <typename T> struct Signals {
  T *signal, *cotangent;
  const T *filter;
  T *filterGradient;

  Signals at(int64_t point) const {
    int64_t offset = point * 2 * lanes<T>;
    return {signal + offset, cotangent + offset, filter + offset, filterGradient + offset};
  }
};

template <Action action, int size, typename T>
HYBRID_INLINE void leaf(const Signals<T> &s, Vector<T> skip) {
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
      storePoint(s.filterGradient, i, loadPoint(s.filterGradient, i) + timesConjugate(b[i], a[i]));
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

/// A block of 2^logSize >= 4 points: forward, the action, and inverse. `skip` is added to the
/// filter.
template <Action action, typename T>
HYBRID_NOINLINE void transformBlock(const Signals<T> &s, int64_t logSize, const Twiddles<T> &table,
                                    const T *skip) {
  if (logSize <= 3) {
    Vector<T> added = load(skip);
    if (logSize == 3)
      leaf<action, 8>(s, added);
    else
      leaf<action, 4>(s, added);
    return;
  }
  constexpr bool usesCotangent = action == Action::Gradient || action == Action::GradientAndS;
  constexpr bool joinsSignal = action != Action::Gradient && action != Action::Forward;
  int64_t size = int64_t(1) << logSize;
  if (logSize == 4) {
    const T *factors = table.radix4(size);
    if constexpr (action != Action::Inverse)
      stage<false, 4>(s.signal, size, factors);
    if constexpr (usesCotangent)
      stage<false, 4>(s.cotangent, size, factors);
    for (int64_t k = 0; k < 4; ++k)
      transformBlock<action>(s.at(k * 4), 2, table, skip);
    if constexpr (joinsSignal)
      stage<true, 4>(s.signal, size, factors);
    if constexpr (usesCotangent)
      stage<true, 4>(s.cotangent, size, factors);
    return;
  }
  const T *factors = table.radix8(size);
  if constexpr (action != Action::Inverse)
    stage<false, 8>(s.signal, size, factors);
  if constexpr (usesCotangent)
    stage<false, 8>(s.cotangent, size, factors);
  for (int64_t k = 0; k < 8; ++k)
    transformBlock<action>(s.at(k * size / 8), logSize - 3, table, skip);
  if constexpr (joinsSignal)
    stage<true, 8>(s.signal, size, factors);
  if constexpr (usesCotangent)
    stage<true, 8>(s.cotangent, size, factors);
}

/// The outermost forward stage: `value(t)` gives point t, which is zero from `count` on.
template <typename T, typename Value>
HYBRID_INLINE void firstStage(T *data, int64_t size, const Twiddles<T> &table, int64_t count,
                              Value value) {
  int64_t part = size / 4;
  const T *row = table.radix4(size);
  if (count <= size / 2) {
    for (int64_t j = 0; j < part; ++j, row += 6) {
      Complex<T> a = value(j), b = value(j + part), turned = quarterTurn<false>(b);
      storePoint(data, j, a + b);
      storePoint(data, j + part, twiddled<false>(a + turned, row, 0));
      storePoint(data, j + 2 * part, twiddled<false>(a - b, row, 1));
      storePoint(data, j + 3 * part, twiddled<false>(a - turned, row, 2));
    }
    return;
  }
  for (int64_t j = 0; j < part; ++j, row += 6) {
    Complex<T> a = value(j), b = value(j + part), c = value(j + 2 * part), d = value(j + 3 * part);
    transform4<false>(a, b, c, d);
    storePoint(data, j, a);
    storePoint(data, j + part, twiddled<false>(b, row, 0));
    storePoint(data, j + 2 * part, twiddled<false>(c, row, 1));
    storePoint(data, j + 3 * part, twiddled<false>(d, row, 2));
  }
}

/// The outermost inverse stage: hands the points t < count to `use(t, value)`, and maybe some more.
template <typename T, typename Use>
HYBRID_INLINE void lastStage(const T *data, int64_t size, const Twiddles<T> &table, int64_t count,
                             Use use) {
  int64_t part = size / 4;
  const T *row = table.radix4(size);
  bool half = count <= size / 2;
  for (int64_t j = 0; j < part; ++j, row += 6) {
    Complex<T> a = loadPoint(data, j);
    Complex<T> b = twiddled<true>(loadPoint(data, j + part), row, 0);
    Complex<T> c = twiddled<true>(loadPoint(data, j + 2 * part), row, 1);
    Complex<T> d = twiddled<true>(loadPoint(data, j + 3 * part), row, 2);
    transform4<true>(a, b, c, d);
    use(j, a);
    use(j + part, b);
    if (!half) {
      use(j + 2 * part, c);
      use(j + 3 * part, d);
    }
  }
}

} // namespace hybrid::cpu
