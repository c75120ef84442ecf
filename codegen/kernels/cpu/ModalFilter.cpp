//===- ModalFilter.cpp - sums of damped oscillations ------------------------===//
//
// A block of positions starts from powers computed with libm and multiplies on from there: no error
// grows with the length, and the functions cost little. Everything is in double, 8 channels at a
// time: a filter is made once a step, whatever the batch.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/ModalFilter.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

using Lanes = Vector<double>;
constexpr int64_t width = lanes<double>;

template <typename T> HYBRID_INLINE Lanes loadLanes(const T *from, int64_t count) {
  Lanes result = splat(0.0);
  for (int64_t i = 0; i < count; ++i)
    result[i] = static_cast<double>(from[i]);
  return result;
}
template <typename T> HYBRID_INLINE void storeLanes(T *to, Lanes value, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(value[i]);
}

struct Phasor {
  Lanes re, im;
};
HYBRID_INLINE Phasor operator*(Phasor a, Phasor b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// e^((decay + i angle) t).
HYBRID_INLINE Phasor powerAt(Lanes decay, Lanes angle, double t) {
  Phasor result;
  for (int64_t i = 0; i < width; ++i) {
    double size = __builtin_exp(decay[i] * t);
    result.re[i] = size * __builtin_cos(angle[i] * t);
    result.im[i] = size * __builtin_sin(angle[i] * t);
  }
  return result;
}

struct Item {
  int64_t first, last, channel, count, block;

  Item(int64_t item, const ModalFilterParams &params) {
    int64_t groups = ceilDiv(params.channels, width);
    block = item / groups;
    channel = item % groups * width;
    count = minimum(width, params.channels - channel);
    first = block * modalFilterBlock;
    last = minimum(first + modalFilterBlock, params.length);
  }

  /// The item's channels of a row.
  template <typename T> Lanes load(const T *row) const { return loadLanes(row + channel, count); }
};

template <typename T>
HYBRID_INLINE void modal_filter(int64_t index, Buffers buffers, const ModalFilterParams &params) {
  Item item(index, params);
  auto operand = [&](int buffer, int64_t state) {
    return item.load(buffers.at<const T>(buffer) + state * params.channels);
  };
  Lanes sum[modalFilterBlock];
  for (int64_t t = 0; t < modalFilterBlock; ++t)
    sum[t] = splat(0.0);
  for (int64_t s = 0; s < params.states; ++s) {
    Lanes decay = operand(0, s), angle = operand(1, s);
    Phasor step = powerAt(decay, angle, 1),
           z = Phasor{operand(2, s), operand(3, s)} *
               powerAt(decay, angle, static_cast<double>(item.first));
    for (int64_t t = 0; t < modalFilterBlock; ++t) {
      sum[t] += z.re;
      z = z * step;
    }
  }
  T *y = buffers.at<T>(4) + item.channel;
  for (int64_t t = item.first; t < item.last; ++t)
    storeLanes(y + t * params.channels, sum[t - item.first], item.count);
}

template <typename T>
HYBRID_INLINE void modal_filter_backward(int64_t index, Buffers buffers,
                                         const ModalFilterParams &params) {
  Item item(index, params);
  auto operand = [&](int buffer, int64_t state) {
    return item.load(buffers.at<const T>(buffer) + state * params.channels);
  };
  const T *dy = buffers.at<const T>(4) + item.channel;
  Lanes cotangent[modalFilterBlock];
  for (int64_t t = item.first; t < item.last; ++t)
    cotangent[t - item.first] = loadLanes(dy + t * params.channels, item.count);
  T *partial = buffers.at<T>(5) + item.block * 4 * params.states * params.channels + item.channel;
  for (int64_t s = 0; s < params.states; ++s) {
    Lanes decay = operand(0, s), angle = operand(1, s);
    Phasor step = powerAt(decay, angle, 1),
           power = powerAt(decay, angle, static_cast<double>(item.first));
    // Sums of dy p^t and of dy t p^t; the residue enters at the end.
    Phasor plain{splat(0.0), splat(0.0)}, timed = plain;
    for (int64_t t = item.first; t < item.last; ++t) {
      Lanes dh = cotangent[t - item.first], dht = dh * static_cast<double>(t);
      plain.re += dh * power.re;
      plain.im += dh * power.im;
      timed.re += dht * power.re;
      timed.im += dht * power.im;
      power = power * step;
    }
    Phasor slope = Phasor{operand(2, s), operand(3, s)} * timed;
    Lanes results[4] = {slope.re, -slope.im, plain.re, -plain.im};
    for (int64_t i = 0; i < 4; ++i)
      storeLanes(partial + (i * params.states + s) * params.channels, results[i], item.count);
  }
}

} // namespace

HYBRID_KERNEL(modal_filter, ModalFilterParams)
HYBRID_KERNEL(modal_filter_backward, ModalFilterParams)
