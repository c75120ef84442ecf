//===- ShortConv.cpp - short depthwise causal convolution -----------------===//
//
// Lanes are channels; a block of channels walks down the rows of an item with its taps in registers
// (specialised code has a constant number of taps). Bound by memory. The backward pass needs the
// gradient of the pre-activation K - 1 rows behind its own; it recomputes those, so that items stay
// independent. Inputs before the first row come from the initial state, which belongs to the
// segment of row 0; the final state holds the last K - 1 inputs, zero where their segment is not
// that of the last row, so that no document leaks into the next chunk.
//
//===----------------------------------------------------------------------===//
#include "Gates.h"

using namespace hybrid::cpu;

namespace {

/// Taps, or gradients, that are kept in registers or on the stack; longer filters go to memory.
constexpr int64_t keptTaps = 16;

/// One block of channels of one sequence.
template <typename T> struct Sequence {
  const ShortConvParams &params;
  const T *x, *weight, *bias, *state; // at the block's first channel
  const int32_t *segments;
  int64_t channels; // valid lanes
  Vector<T> kept[keptTaps];

  Sequence(const ShortConvParams &params, int64_t batch, int64_t channel, const void *x,
           const void *weight, const void *bias, const void *segments, const void *state)
      : params(params),
        x(static_cast<const T *>(x) + batch * params.length * params.xStride + channel),
        weight(static_cast<const T *>(weight) + channel * params.taps),
        bias(params.hasBias && bias ? static_cast<const T *>(bias) + channel : nullptr),
        state(params.hasState ? static_cast<const T *>(state) +
                                    batch * (params.taps - 1) * params.channels + channel
                              : nullptr),
        segments(params.hasSegments ? static_cast<const int32_t *>(segments) + batch * params.length
                                    : nullptr),
        channels(lanesAt<T>(channel, params.channels)) {
    for (int64_t j = 0; j < params.taps && j < keptTaps; ++j)
      kept[j] = gathered(j);
  }

  Vector<T> gathered(int64_t j) const {
    T values[lanes<T>] = {};
    for (int64_t i = 0; i < channels; ++i)
      values[i] = weight[i * params.taps + j];
    return load(values);
  }
  Vector<T> tap(int64_t j) const {
    return params.taps <= keptTaps || j < keptTaps ? kept[j] : gathered(j);
  }

  /// The input at time t >= 1 - taps.
  Vector<T> input(int64_t t) const {
    if (t >= 0)
      return loadPart(x + t * params.xStride, channels);
    if (!params.hasState)
      return splat(T(0));
    return loadPart(state + (t + params.taps - 1) * params.channels, channels);
  }

  /// Does the input at time s, at or before t, count at row t?
  bool counts(int64_t s, int64_t t) const {
    if (s < 0 && !params.hasState)
      return false;
    return !params.hasSegments || segments[s < 0 ? 0 : s] == segments[t];
  }

  Vector<T> convolved(int64_t t) const {
    Vector<T> sum = bias ? loadPart(bias, channels) : splat(T(0));
    for (int64_t j = 0; j < params.taps; ++j) {
      int64_t s = t - (params.taps - 1) + j;
      if (counts(s, t))
        sum += tap(j) * input(s);
    }
    return sum;
  }
};

template <typename T>
HYBRID_INLINE void short_conv_forward(int64_t lo, int64_t hi, void *const *buffers, void *,
                                      const ShortConvParams &params) {
  const int64_t items = ceilDiv(params.length, params.rowsPerItem), history = params.taps - 1;
  for (int64_t item = lo; item < hi; ++item) {
    int64_t batch = item / items, first = item % items * params.rowsPerItem;
    int64_t end = minimum(first + params.rowsPerItem, params.length);
    for (int64_t channel = 0; channel < params.channels; channel += lanes<T>) {
      Sequence<T> sequence(params, batch, channel, buffers[0], buffers[1], buffers[2], buffers[3],
                           buffers[4]);
      T *y = static_cast<T *>(buffers[5]) + batch * params.length * params.yStride + channel;
      for (int64_t t = first; t < end; ++t) {
        Vector<T> value = sequence.convolved(t);
        if (params.activation == 1)
          value *= logistic<T>(value);
        storePart(y + t * params.yStride, value, sequence.channels);
      }
      if (params.hasFinalState && end == params.length) {
        T *state = static_cast<T *>(buffers[6]) + batch * history * params.channels + channel;
        for (int64_t k = 0; k < history; ++k) {
          int64_t t = params.length - history + k;
          storePart(state + k * params.channels,
                    sequence.counts(t, params.length - 1) ? sequence.input(t) : splat(T(0)),
                    sequence.channels);
        }
      }
    }
  }
}

template <typename T>
HYBRID_INLINE void short_conv_backward(int64_t lo, int64_t hi, void *const *buffers, void *,
                                       const ShortConvParams &params) {
  const int64_t items = ceilDiv(params.length, params.rowsPerItem), taps = params.taps;
  const int64_t history = taps - 1, length = params.length;
  for (int64_t item = lo; item < hi; ++item) {
    int64_t batch = item / items, first = item % items * params.rowsPerItem;
    int64_t end = minimum(first + params.rowsPerItem, length);
    for (int64_t channel = 0; channel < params.channels; channel += lanes<T>) {
      Sequence<T> sequence(params, batch, channel, buffers[0], buffers[1],
                           params.activation == 1 ? buffers[9] : nullptr, buffers[2], buffers[3]);
      const int64_t count = sequence.channels;
      const T *dy = static_cast<const T *>(buffers[4]) + batch * length * params.yStride + channel;
      const T *dFinal =
          params.hasFinalState && buffers[5]
              ? static_cast<const T *>(buffers[5]) + batch * history * params.channels + channel
              : nullptr;
      T *dx = static_cast<T *>(buffers[6]) + batch * length * params.dxStride + channel;
      T *dInitial = params.hasState && buffers[7]
                        ? static_cast<T *>(buffers[7]) + batch * history * params.channels + channel
                        : nullptr;
      T *partial = static_cast<T *>(buffers[8]) + item * (taps + 1) * params.channels + channel;

      // The gradient of the pre-activation at row t.
      auto derivative = [&](int64_t t) -> Vector<T> {
        Vector<T> g = loadPart(dy + t * params.yStride, count);
        if (params.activation != 1)
          return g;
        Vector<T> v = sequence.convolved(t), s = logistic<T>(v);
        return g * (s * (T(1) + v * (T(1) - s)));
      };
      // What reaches the input at time s through the final state.
      auto throughFinalState = [&](int64_t s) -> Vector<T> {
        int64_t k = s - (length - history);
        if (!dFinal || k < 0 || !sequence.counts(s, length - 1))
          return splat(T(0));
        return loadPart(dFinal + k * params.channels, count);
      };
      auto addToPartial = [&](int64_t j, Vector<T> value) {
        T *at = partial + j * params.channels;
        storePart(at, loadPart(at, count) + value, count);
      };

      for (int64_t j = 0; j <= taps; ++j)
        storePart(partial + j * params.channels, splat(T(0)), count);
      // Gradients of the last keptTaps rows; a longer filter recomputes them.
      const bool keeps = taps <= keptTaps;
      Vector<T> recent[keptTaps], sums[keptTaps + 1];
      for (int64_t j = 0; keeps && j <= taps; ++j)
        sums[j] = splat(T(0));
      // Row t completes the gradient of the input at t - history.
      for (int64_t t = first; t < end + history; ++t) {
        if (t < length && (t < end || keeps)) {
          Vector<T> g = derivative(t);
          if (keeps)
            recent[t % keptTaps] = g;
          if (t < end) {
            for (int64_t j = 0; j < taps; ++j) {
              int64_t s = t - history + j;
              if (!sequence.counts(s, t))
                continue;
              if (keeps)
                sums[j] += g * sequence.input(s);
              else
                addToPartial(j, g * sequence.input(s));
            }
            if (keeps)
              sums[taps] += g;
            else
              addToPartial(taps, g);
          }
        }
        int64_t s = t - history;
        if (s < first)
          continue;
        Vector<T> sum = throughFinalState(s);
        for (int64_t later = s; later <= minimum(t, length - 1); ++later)
          if (sequence.counts(s, later))
            sum += sequence.tap(s + history - later) *
                   (keeps ? recent[later % keptTaps] : derivative(later));
        storePart(dx + s * params.dxStride, sum, count);
      }
      for (int64_t j = 0; keeps && j <= taps; ++j)
        storePart(partial + j * params.channels, sums[j], count);

      if (dInitial && first == 0)
        for (int64_t s = -history; s < 0; ++s) {
          Vector<T> sum = throughFinalState(s);
          for (int64_t later = 0; later <= minimum(s + history, length - 1); ++later)
            if (sequence.counts(s, later))
              sum += sequence.tap(s + history - later) * derivative(later);
          storePart(dInitial + (s + history) * params.channels, sum, count);
        }
    }
  }
}

} // namespace

HYBRID_KERNEL(short_conv_forward, ShortConvParams)
HYBRID_KERNEL(short_conv_backward, ShortConvParams)
