//===- Rfft.cuh - Fourier transforms of any number of real points -----------===//
//
// Of filters, which are made once a step, whatever the batch: sums as they are defined, for every
// number of points. A thread makes one result of 8 channels; the inputs come through shared memory,
// where all threads read the same ones. The factor e^(-+ 2 pi i k t / points) is multiplied on from
// input to input, and made afresh, in double and from k t mod points, every rfftTile inputs. Bound
// by arithmetic: 20 instructions for 8 channels of a pair (k, t).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Rfft.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// cos and sin of 2 pi k t / points.
template <typename T> struct RfftFactor {
  T re, im;

  HYBRID_DEVICE RfftFactor(int64_t points, int64_t k, int64_t t) {
    double angle = 6.283185307179586476925286766559 *
                   (static_cast<double>(k * t % points) / static_cast<double>(points));
    re = static_cast<T>(cosine(angle)), im = static_cast<T>(sine(angle));
  }
  HYBRID_DEVICE void multiply(const RfftFactor &step) {
    T next = multiplyAdd(re, step.re, -(im * step.im));
    im = multiplyAdd(re, step.im, im * step.re);
    re = next;
  }
};

/// c_k / points of a weighted transform, else 1.
template <typename T, RfftParams P> HYBRID_DEVICE T rfftWeight(int64_t bin) {
  if (!P.weighted)
    return T(1);
  bool single = bin == 0 || 2 * bin == P.points;
  return (single ? T(1) : T(2)) / static_cast<T>(P.points);
}

/// Loads rfftTile rows of 8 channels of [inputs, channels] from `first` on, zero outside.
template <typename T, RfftParams P, typename Value>
HYBRID_DEVICE void loadRfftTile(T *tile, int64_t first, int64_t inputs, int64_t channel,
                                Value value) {
  for (int i = static_cast<int>(threadIdx.x); i < rfftTile * rfftChannels; i += rfftThreads) {
    int64_t row = first + i / rfftChannels, at = channel + i % rfftChannels;
    tile[i] = row < inputs && at < P.channels ? value(row, row * P.channels + at) : T(0);
  }
}

template <typename T, RfftParams P>
HYBRID_DEVICE void rfft(int64_t item, const T *x, T *re, T *im) {
  constexpr int64_t bins = P.points / 2 + 1, groups = (bins + rfftThreads - 1) / rfftThreads;
  const int64_t channel = item / groups * rfftChannels,
                bin = item % groups * rfftThreads + threadIdx.x;
  auto *tile = sharedMemory<T>();
  T sumRe[rfftChannels] = {}, sumIm[rfftChannels] = {};
  const RfftFactor<T> step(P.points, bin, 1);
  HYBRID_NO_UNROLL
  for (int64_t first = 0; first < P.points; first += rfftTile) {
    blockBarrier();
    loadRfftTile<T, P>(tile, first, P.points, channel, [&](int64_t, int64_t at) { return x[at]; });
    blockBarrier();
    RfftFactor<T> factor(P.points, bin, first);
    HYBRID_NO_UNROLL
    for (int t = 0; t < rfftTile; ++t) {
      HYBRID_UNROLL
      for (int c = 0; c < rfftChannels; ++c) {
        T value = tile[t * rfftChannels + c];
        sumRe[c] = multiplyAdd(value, factor.re, sumRe[c]);
        sumIm[c] = multiplyAdd(-value, factor.im, sumIm[c]);
      }
      factor.multiply(step);
    }
  }
  if (bin >= bins)
    return;
  const T weight = rfftWeight<T, P>(bin);
  HYBRID_UNROLL
  for (int c = 0; c < rfftChannels; ++c)
    if (channel + c < P.channels) {
      re[bin * P.channels + channel + c] = sumRe[c] * weight;
      im[bin * P.channels + channel + c] = sumIm[c] * weight;
    }
}

/// x_t = sum over the bins, half of the spectrum, of Re((re + i im) e^(2 pi i k t / points)), each
/// with its weight.
template <typename T, RfftParams P>
HYBRID_DEVICE void irfft(int64_t item, const T *re, const T *im, T *x) {
  constexpr int64_t bins = P.points / 2 + 1, groups = (P.points + rfftThreads - 1) / rfftThreads;
  const int64_t channel = item / groups * rfftChannels,
                t = item % groups * rfftThreads + threadIdx.x;
  auto *tileRe = sharedMemory<T>(), *tileIm = tileRe + rfftTile * rfftChannels;
  T sum[rfftChannels] = {};
  const RfftFactor<T> step(P.points, t, 1);
  HYBRID_NO_UNROLL
  for (int64_t first = 0; first < bins; first += rfftTile) {
    blockBarrier();
    loadRfftTile<T, P>(tileRe, first, bins, channel,
                       [&](int64_t bin, int64_t at) { return re[at] * rfftWeight<T, P>(bin); });
    loadRfftTile<T, P>(tileIm, first, bins, channel, [&](int64_t bin, int64_t at) {
      bool real = bin == 0 || 2 * bin == P.points;
      return real ? T(0) : im[at] * rfftWeight<T, P>(bin);
    });
    blockBarrier();
    RfftFactor<T> factor(P.points, t, first);
    HYBRID_NO_UNROLL
    for (int k = 0; k < rfftTile; ++k) {
      HYBRID_UNROLL
      for (int c = 0; c < rfftChannels; ++c) {
        sum[c] = multiplyAdd(tileRe[k * rfftChannels + c], factor.re, sum[c]);
        sum[c] = multiplyAdd(-tileIm[k * rfftChannels + c], factor.im, sum[c]);
      }
      factor.multiply(step);
    }
  }
  if (t >= P.points)
    return;
  HYBRID_UNROLL
  for (int c = 0; c < rfftChannels; ++c)
    if (channel + c < P.channels)
      x[t * P.channels + channel + c] = sum[c];
}

//===-- Around a library -------------------------------------------------------===//

template <typename T, RfftParams P>
HYBRID_DEVICE void rfftSplit(int64_t item, const T *spectrum, T *re, T *im) {
  const int64_t at = item * spectrumThreads + threadIdx.x, bin = at / P.channels;
  if (bin > P.points / 2)
    return;
  const T weight = rfftWeight<T, P>(bin);
  re[at] = spectrum[2 * at] * weight;
  im[at] = spectrum[2 * at + 1] * weight;
}

/// The library sums X_k and its conjugate for all bins but the first and, of an even number, the
/// last.
template <typename T, RfftParams P>
HYBRID_DEVICE void irfftJoin(int64_t item, const T *re, const T *im, T *spectrum) {
  const int64_t at = item * spectrumThreads + threadIdx.x, bin = at / P.channels;
  if (bin > P.points / 2)
    return;
  const bool single = bin == 0 || 2 * bin == P.points;
  const T weight = rfftWeight<T, P>(bin) * (single ? T(1) : T(0.5));
  spectrum[2 * at] = re[at] * weight;
  spectrum[2 * at + 1] = single ? T(0) : im[at] * weight;
}

} // namespace hybrid::cuda
