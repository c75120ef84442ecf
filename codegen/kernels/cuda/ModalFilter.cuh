//===- ModalFilter.cuh - sums of damped oscillations ------------------------===//
//
// In double, as on the CPU. A lane of a warp is a channel, and the warps of a block are stretches
// of 32 positions, which start from powers of their own and multiply on from there: no error grows
// with the length. Bound by arithmetic in double; a filter is made once a step, whatever the batch.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/ModalFilter.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

struct Phasor {
  double re, im;
};
HYBRID_DEVICE Phasor operator*(Phasor a, Phasor b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// e^((decay + i angle) t).
HYBRID_DEVICE Phasor phasorAt(double decay, double angle, double t) {
  double size = exponential(decay * t);
  return {size * cosine(angle * t), size * sine(angle * t)};
}

/// The channel and the positions of a thread.
template <ModalFilterParams P> struct ModalItem {
  int64_t block, channel, first;

  HYBRID_DEVICE explicit ModalItem(int64_t item) {
    constexpr int64_t groups = (P.channels + 31) / 32;
    block = item / groups;
    channel = item % groups * 32 + laneIndex();
    first = block * modalPositions + warpIndex() * modalStretch;
  }
  HYBRID_DEVICE bool hasChannel() const { return channel < P.channels; }
};

template <typename T, ModalFilterParams P>
HYBRID_DEVICE void modalFilter(int64_t index, const T *decay, const T *angle, const T *re,
                               const T *im, T *y) {
  const ModalItem<P> item(index);
  if (!item.hasChannel()) // there is no barrier behind
    return;
  double sums[modalStretch] = {};
  HYBRID_NO_UNROLL
  for (int64_t s = 0; s < P.states; ++s) {
    const int64_t at = s * P.channels + item.channel;
    const double growth = static_cast<double>(decay[at]), turn = static_cast<double>(angle[at]);
    const Phasor step = phasorAt(growth, turn, 1);
    Phasor z = Phasor{static_cast<double>(re[at]), static_cast<double>(im[at])} *
               phasorAt(growth, turn, static_cast<double>(item.first));
    HYBRID_UNROLL
    for (int t = 0; t < modalStretch; ++t) {
      sums[t] += z.re;
      z = z * step;
    }
  }
  HYBRID_UNROLL
  for (int t = 0; t < modalStretch; ++t)
    if (item.first + t < P.length)
      y[(item.first + t) * P.channels + item.channel] = static_cast<T>(sums[t]);
}

/// partial: [blocks of modalPositions, 4, states, channels].
template <typename T, ModalFilterParams P>
HYBRID_DEVICE void modalFilterBackward(int64_t index, const T *decay, const T *angle, const T *re,
                                       const T *im, const T *dy, T *partial) {
  constexpr int warps = static_cast<int>(modalPositions / modalStretch);
  const ModalItem<P> item(index);
  T cotangent[modalStretch];
  HYBRID_UNROLL
  for (int t = 0; t < modalStretch; ++t) {
    bool inside = item.hasChannel() && item.first + t < P.length;
    cotangent[t] = inside ? dy[(item.first + t) * P.channels + item.channel] : T(0);
  }
  auto *shared = sharedMemory<double>(); // [warps, 4, 32]
  HYBRID_NO_UNROLL
  for (int64_t s = 0; s < P.states; ++s) {
    const int64_t at = s * P.channels + (item.hasChannel() ? item.channel : 0);
    const double growth = static_cast<double>(decay[at]), turn = static_cast<double>(angle[at]);
    const Phasor step = phasorAt(growth, turn, 1);
    Phasor power = phasorAt(growth, turn, static_cast<double>(item.first));
    // Sums of dy p^t and of dy t p^t; the residue enters at the end.
    Phasor plain{0, 0}, timed{0, 0};
    HYBRID_UNROLL
    for (int t = 0; t < modalStretch; ++t) {
      double dh = static_cast<double>(cotangent[t]), dht = dh * static_cast<double>(item.first + t);
      plain.re += dh * power.re, plain.im += dh * power.im;
      timed.re += dht * power.re, timed.im += dht * power.im;
      power = power * step;
    }
    const Phasor slope = Phasor{static_cast<double>(re[at]), static_cast<double>(im[at])} * timed;
    double *mine = shared + warpIndex() * 128 + laneIndex();
    mine[0] = slope.re, mine[32] = -slope.im, mine[64] = plain.re, mine[96] = -plain.im;
    blockBarrier();
    if (int which = warpIndex(); which < 4 && item.hasChannel()) {
      double sum = 0;
      HYBRID_UNROLL
      for (int warp = 0; warp < warps; ++warp)
        sum += shared[(warp * 4 + which) * 32 + laneIndex()];
      partial[((item.block * 4 + which) * P.states + s) * P.channels + item.channel] =
          static_cast<T>(sum);
    }
    blockBarrier();
  }
}

} // namespace hybrid::cuda
