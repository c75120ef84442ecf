//===- ShortConv.cpp - short depthwise causal convolution -----------------===//
//
// Lanes are channels (specialised code has a constant number of taps). A group of blocks of
// channels, whose taps are brought into order once an item, walks down the rows of the item in
// tiles of a few rows: within a tile memory is read along the rows, as prefetchers want it, and a
// block keeps its taps and sums in registers. Bound by memory. The backward pass needs the gradient
// of the pre-activation K - 1 rows behind its own; it recomputes those, so that items stay
// independent. Inputs before the first row come from the initial state, which belongs to the
// segment of row 0; the final state holds the last K - 1 inputs, zero where their segment is not
// that of the last row, so that no document leaks into the next chunk.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/ShortConv.h"
#include "Activation.h"
#include "Gates.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// Taps, or gradients, that are kept in registers or on the stack; longer filters go to memory.
constexpr int64_t keptTaps = 16;
/// Vectors of taps of a group, and rows of a tile.
constexpr int64_t groupTaps = 128, tileRows = 4;

/// Blocks of channels in a group.
HYBRID_INLINE int64_t groupBlocks(const ShortConvParams &params) {
  return maximum(1, groupTaps / (minimum(params.taps, keptTaps) + 1));
}

/// One block of channels of one sequence.
template <typename T> struct Sequence {
  const ShortConvParams &params;
  Activation<T> x; // at the block's first channel, as what follows
  const T *weight, *bias, *state;
  const int32_t *segments;
  int64_t channels;      // valid lanes
  const Vector<T> *kept; // the first keptTaps taps, after keepTaps

  Sequence(const ShortConvParams &params, int64_t batch, int64_t channel, Activation<T> x,
           const void *weight, const void *bias, const void *segments, const void *state,
           const Vector<T> *kept)
      : params(params), x(x + batch * params.length * params.xStride + channel),
        weight(static_cast<const T *>(weight) + channel * params.taps),
        bias(params.hasBias && bias ? static_cast<const T *>(bias) + channel : nullptr),
        state(params.hasState ? static_cast<const T *>(state) +
                                    batch * (params.taps - 1) * params.channels + channel
                              : nullptr),
        segments(params.hasSegments ? static_cast<const int32_t *>(segments) + batch * params.length
                                    : nullptr),
        channels(lanesAt<T>(channel, params.channels)), kept(kept) {}

  void keepTaps(Vector<T> *to) const {
    for (int64_t j = 0; j < params.taps && j < keptTaps; ++j)
      to[j] = gathered(j);
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

  HYBRID_INLINE_LAMBDA Vector<T> convolved(int64_t t) const {
    Vector<T> sum = bias ? loadPart(bias, channels) : splat(T(0));
    if (!params.hasSegments && t >= params.taps - 1) { // every tap counts
      const Activation<T> from = x + (t - params.taps + 1) * params.xStride;
      for (int64_t j = 0; j < params.taps; ++j)
        sum += tap(j) * loadPart(from + j * params.xStride, channels);
      return sum;
    }
    for (int64_t j = 0; j < params.taps; ++j) {
      int64_t s = t - (params.taps - 1) + j;
      if (counts(s, t))
        sum += tap(j) * input(s);
    }
    return sum;
  }
};

template <typename T>
HYBRID_INLINE void short_conv_forward(int64_t item, Buffers buffers,
                                      const ShortConvParams &params) {
  const int64_t items = ceilDiv(params.length, params.rowsPerItem), history = params.taps - 1;
  const int64_t group = groupBlocks(params) * lanes<T>;
  const int64_t width = minimum(params.taps, keptTaps);
  Vector<T> kept[groupTaps];
  int64_t batch = item / items, first = item % items * params.rowsPerItem;
  int64_t end = minimum(first + params.rowsPerItem, params.length);
  for (int64_t firstChannel = 0; firstChannel < params.channels; firstChannel += group) {
    int64_t lastChannel = minimum(firstChannel + group, params.channels);
    auto sequenceAt = [&](int64_t channel) {
      return Sequence<T>(params, batch, channel, activationAt<T>(buffers, 0), buffers[1],
                         buffers[2], buffers[3], buffers[4],
                         kept + (channel - firstChannel) / lanes<T> * width);
    };
    for (int64_t channel = firstChannel; channel < lastChannel; channel += lanes<T>)
      sequenceAt(channel).keepTaps(kept + (channel - firstChannel) / lanes<T> * width);
    for (int64_t row = first; row < end; row += tileRows)
      for (int64_t channel = firstChannel; channel < lastChannel; channel += lanes<T>) {
        const Sequence<T> sequence = sequenceAt(channel);
        const Activation<T> y =
            activationAt<T>(buffers, 6) + batch * params.length * params.yStride + channel;
        auto finish = [&](int64_t t, Vector<T> value) HYBRID_INLINE_LAMBDA {
          if (params.activation == 1)
            value *= logistic<T>(value);
          storePart(y + t * params.yStride, value, sequence.channels);
        };
        if (!params.hasSegments && params.taps <= keptTaps && row >= history &&
            row + tileRows <= end) {
          // Every tap counts: each input is loaded once.
          Vector<T> inputs[tileRows + keptTaps - 1];
          const Activation<T> x = sequence.x + (row - history) * params.xStride;
          for (int64_t i = 0; i < tileRows + history; ++i)
            inputs[i] = loadPart(x + i * params.xStride, sequence.channels);
          HYBRID_UNROLL
          for (int64_t i = 0; i < tileRows; ++i) {
            Vector<T> sum =
                sequence.bias ? loadPart(sequence.bias, sequence.channels) : splat(T(0));
            for (int64_t j = 0; j < params.taps; ++j)
              sum += sequence.kept[j] * inputs[i + j];
            finish(row + i, sum);
          }
        } else {
          for (int64_t t = row; t < minimum(row + tileRows, end); ++t)
            finish(t, sequence.convolved(t));
        }
      }
    for (int64_t channel = firstChannel;
         params.hasFinalState && end == params.length && channel < lastChannel;
         channel += lanes<T>) {
      const Sequence<T> sequence = sequenceAt(channel);
      T *state = buffers.at<T>(5) + batch * history * params.channels + channel;
      for (int64_t k = 0; k < history; ++k) {
        int64_t t = params.length - history + k;
        storePart(state + k * params.channels,
                  sequence.counts(t, params.length - 1) ? sequence.input(t) : splat(T(0)),
                  sequence.channels);
      }
    }
  }
}

/// One block of channels on the way back.
template <typename T> struct Backward {
  const Sequence<T> &sequence;
  const ShortConvParams &params;
  Activation<T> dy, dx;
  const T *dFinal;
  T *dInitial, *partial;
  int64_t history, count;

  Backward(const Sequence<T> &sequence, Buffers buffers, int64_t item, int64_t batch,
           int64_t channel)
      : sequence(sequence), params(sequence.params), history(params.taps - 1),
        count(sequence.channels) {
    int64_t state = batch * history * params.channels + channel;
    dy = activationAt<T>(buffers, 4) + batch * params.length * params.yStride + channel;
    dFinal = params.hasFinalState && buffers[5] ? buffers.at<const T>(5) + state : nullptr;
    dx = activationAt<T>(buffers, 9) + batch * params.length * params.dxStride + channel;
    dInitial = params.hasState && buffers[6] ? buffers.at<T>(6) + state : nullptr;
    partial = buffers.at<T>(7) + item * (params.taps + 1) * params.channels + channel;
  }

  /// The gradient of the pre-activation at row t.
  HYBRID_INLINE_LAMBDA Vector<T> derivative(int64_t t) const {
    Vector<T> g = loadPart(dy + t * params.yStride, count);
    if (params.activation != 1)
      return g;
    Vector<T> v = sequence.convolved(t), s = logistic<T>(v);
    return g * (s * (T(1) + v * (T(1) - s)));
  }
  /// What reaches the input at time s through the final state.
  HYBRID_INLINE_LAMBDA Vector<T> throughFinalState(int64_t s) const {
    int64_t k = s - (params.length - history);
    if (!dFinal || k < 0 || !sequence.counts(s, params.length - 1))
      return splat(T(0));
    return loadPart(dFinal + k * params.channels, count);
  }
  void addToPartial(int64_t j, Vector<T> value) const {
    T *at = partial + j * params.channels;
    storePart(at, loadPart(at, count) + value, count);
  }

  /// dx of the rows [first, end), and their part of the gradients of taps and bias.
  HYBRID_INLINE_LAMBDA void rows(int64_t first, int64_t end) const {
    const int64_t taps = params.taps, length = params.length;
    // Gradients of the last keptTaps rows; a longer filter recomputes them.
    const bool keeps = taps <= keptTaps;
    Vector<T> recent[keptTaps], sums[keptTaps + 1];
    for (int64_t j = 0; keeps && j <= taps; ++j)
      sums[j] = loadPart(partial + j * params.channels, count);
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
  }

  /// The same for tileRows rows where every tap counts and whose gradients come from rows of the
  /// sequence alone: all in registers.
  HYBRID_INLINE_LAMBDA void innerRows(int64_t first) const {
    Vector<T> g[tileRows + keptTaps - 1];
    for (int64_t i = 0; i < tileRows + history; ++i)
      g[i] = derivative(first + i);
    HYBRID_UNROLL
    for (int64_t i = 0; i < tileRows; ++i) {
      Vector<T> sum = splat(T(0));
      for (int64_t j = 0; j <= history; ++j)
        sum += sequence.kept[j] * g[i + history - j];
      storePart(dx + (first + i) * params.dxStride, sum, count);
    }
    for (int64_t j = 0; j <= params.taps; ++j) {
      T *at = partial + j * params.channels;
      Vector<T> sum = loadPart(at, count);
      const Activation<T> x = sequence.x + (first - history + j) * params.xStride;
      HYBRID_UNROLL
      for (int64_t i = 0; i < tileRows; ++i)
        sum += j < params.taps ? g[i] * loadPart(x + i * params.xStride, count) : g[i];
      storePart(at, sum, count);
    }
  }
  bool isInner(int64_t first, int64_t end) const {
    return params.taps <= keptTaps && !params.hasSegments && first >= history &&
           end - first >= tileRows && first + tileRows + history <= params.length &&
           (!dFinal || first + tileRows + history <= params.length - history);
  }

  void initialState() const {
    for (int64_t s = -history; s < 0; ++s) {
      Vector<T> sum = throughFinalState(s);
      for (int64_t later = 0; later <= minimum(s + history, params.length - 1); ++later)
        if (sequence.counts(s, later))
          sum += sequence.tap(s + history - later) * derivative(later);
      storePart(dInitial + (s + history) * params.channels, sum, count);
    }
  }
};

template <typename T>
HYBRID_INLINE void short_conv_backward(int64_t item, Buffers buffers,
                                       const ShortConvParams &params) {
  const int64_t items = ceilDiv(params.length, params.rowsPerItem);
  const int64_t group = groupBlocks(params) * lanes<T>;
  const int64_t width = minimum(params.taps, keptTaps);
  Vector<T> kept[groupTaps];
  int64_t batch = item / items, first = item % items * params.rowsPerItem;
  int64_t end = minimum(first + params.rowsPerItem, params.length);
  for (int64_t firstChannel = 0; firstChannel < params.channels; firstChannel += group) {
    int64_t lastChannel = minimum(firstChannel + group, params.channels);
    auto sequenceAt = [&](int64_t channel) {
      return Sequence<T>(params, batch, channel, activationAt<T>(buffers, 0), buffers[1],
                         params.activation == 1 ? buffers[8] : nullptr, buffers[2], buffers[3],
                         kept + (channel - firstChannel) / lanes<T> * width);
    };
    for (int64_t channel = firstChannel; channel < lastChannel; channel += lanes<T>) {
      const Sequence<T> sequence = sequenceAt(channel);
      sequence.keepTaps(kept + (channel - firstChannel) / lanes<T> * width);
      Backward<T> backward(sequence, buffers, item, batch, channel);
      for (int64_t j = 0; j <= params.taps; ++j)
        storePart(backward.partial + j * params.channels, splat(T(0)), backward.count);
    }
    for (int64_t row = first; row < end; row += tileRows)
      for (int64_t channel = firstChannel; channel < lastChannel; channel += lanes<T>) {
        const Sequence<T> sequence = sequenceAt(channel);
        Backward<T> backward(sequence, buffers, item, batch, channel);
        if (backward.isInner(row, end))
          backward.innerRows(row);
        else
          backward.rows(row, minimum(row + tileRows, end));
        if (backward.dInitial && row == 0)
          backward.initialState();
      }
  }
}

} // namespace

HYBRID_KERNEL(short_conv_forward, ShortConvParams)
HYBRID_KERNEL(short_conv_backward, ShortConvParams)
