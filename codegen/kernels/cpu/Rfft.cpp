//===- Rfft.cpp - Fourier transforms of any number of real points -----------===//
//
// Bluestein 1970: with c_j = e^(-i pi j^2 / n), kt = (k^2 + t^2 - (k-t)^2)/2 turns the transform
// into a convolution, X_k = c_k sum_t (x_t c_t) conj(c_(k-t)), which any larger power of two can
// do. The inverse is the same with conjugate chirps and only half of the spectrum as input. Filters
// are made once a step, whatever the batch: three transforms of twice the length cost little beside
// the convolutions.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/Rfft.h"
#include "FFT.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// e^(sign i pi j^2 / n); the angle is reduced exactly, in integers.
template <typename T> HYBRID_INLINE Complex<T> chirp(int64_t points, double sign, int64_t j) {
  using Wide = unsigned __int128;
  Wide square = static_cast<Wide>(j) * static_cast<Wide>(j) % static_cast<Wide>(2 * points);
  double angle = sign * 3.14159265358979323846 *
                 (static_cast<double>(static_cast<int64_t>(square)) / static_cast<double>(points));
  return {splat(static_cast<T>(__builtin_cos(angle))), splat(static_cast<T>(__builtin_sin(angle)))};
}

/// out_k = chirp_k sum_j in_j chirp_j conj(chirp_(k-j)) for k < outputs, from in_j, j < inputs.
template <typename T, typename Value, typename Use>
HYBRID_INLINE void chirpTransform(const RfftParams &params, const void *twiddles, T *scratch,
                                  double sign, int64_t inputs, int64_t outputs, Value value,
                                  Use use) {
  const int64_t size = params.transformSize, points = params.points;
  T *signal = scratch, *spectrum = scratch + size * 2 * lanes<T>;
  Twiddles<T> table(twiddles, size);
  T zero[lanes<T>] = {};
  const T factor = T(1) / static_cast<T>(size);
  firstStage<T>(spectrum, size, table, [&](int64_t j) -> Complex<T> {
    int64_t distance = j < outputs ? j : size - j; // behind the outputs come the negative lags
    if (j >= outputs && distance >= inputs)
      return {splat(T(0)), splat(T(0))};
    Complex<T> c = chirp<T>(points, -sign, distance);
    c = {c.re * factor, c.im * factor};
    return j < outputs ? c : quarterTurn<false>(c); // z^-lag = -i z^(size - lag)
  });
  firstStage<T>(signal, size, table, [&](int64_t j) -> Complex<T> {
    if (j >= inputs)
      return {splat(T(0)), splat(T(0))};
    return value(j) * chirp<T>(points, sign, j);
  });
  transformParts<Action::Forward>(Signals<T>{spectrum, spectrum, spectrum, spectrum, false}, size,
                                  table, zero);
  transformParts<Action::Convolve>(Signals<T>{signal, signal, spectrum, signal, false}, size, table,
                                   zero);
  lastStage<T>(signal, size, table, [&](int64_t k, Complex<T> result) {
    if (k < outputs)
      use(k, result * chirp<T>(points, sign, k));
  });
}

/// c_k / n of a weighted transform.
template <typename T> HYBRID_INLINE T weightOf(const RfftParams &params, int64_t bin) {
  if (!params.weighted)
    return T(1);
  bool single = bin == 0 || 2 * bin == params.points;
  return (single ? T(1) : T(2)) / static_cast<T>(params.points);
}

template <typename T>
HYBRID_INLINE void rfft(int64_t block, Buffers buffers, const RfftParams &params) {
  int64_t channel = block * lanes<T>, count = lanesAt<T>(channel, params.channels);
  const T *x = buffers.at<const T>(0) + channel;
  T *re = buffers.at<T>(1) + channel, *im = buffers.at<T>(2) + channel;
  chirpTransform<T>(
      params, buffers[3], buffers.scratch<T>(), -1, params.points, params.points / 2 + 1,
      [&](int64_t t) -> Complex<T> {
        return {loadPart(x + t * params.channels, count), splat(T(0))};
      },
      [&](int64_t k, Complex<T> bin) {
        T weight = weightOf<T>(params, k);
        storePart(re + k * params.channels, bin.re * weight, count);
        storePart(im + k * params.channels, bin.im * weight, count);
      });
}

template <typename T>
HYBRID_INLINE void irfft(int64_t block, Buffers buffers, const RfftParams &params) {
  int64_t channel = block * lanes<T>, count = lanesAt<T>(channel, params.channels);
  const T *re = buffers.at<const T>(0) + channel, *im = buffers.at<const T>(1) + channel;
  T *x = buffers.at<T>(2) + channel;
  chirpTransform<T>(
      params, buffers[3], buffers.scratch<T>(), 1, params.points / 2 + 1, params.points,
      [&](int64_t k) -> Complex<T> {
        T weight = weightOf<T>(params, k);
        bool real = k == 0 || 2 * k == params.points;
        Vector<T> imaginary =
            real ? splat(T(0)) : loadPart(im + k * params.channels, count) * weight;
        return {loadPart(re + k * params.channels, count) * weight, imaginary};
      },
      [&](int64_t t, Complex<T> value) { storePart(x + t * params.channels, value.re, count); });
}

} // namespace

HYBRID_KERNEL(rfft, RfftParams)
HYBRID_KERNEL(irfft, RfftParams)
