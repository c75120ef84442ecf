//===- ShortConv.cuh - short depthwise causal convolution ------------------===//
//
// A thread walks down the rows of one channel, or of two that it moves together; inputs, and
// gradients on the way back, are windows in registers, so that each row is read once (and K - 1
// rows twice at the ends of items). Neighbouring threads read neighbouring channels: bound by
// memory.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/ShortConv.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Rows whose loads are under way at the same time; backward fewer, as more warps that wait
/// together have as many, and share a multiprocessor once each keeps less.
constexpr int shortConvUnroll = 8, shortConvBackwardUnroll = 4;

/// Neighbouring channels of one sequence.
template <typename T, ShortConvParams P, typename X> struct ShortConvSequence {
  static constexpr int width = static_cast<int>(neighboursOfThread(P));
  using Stored = Pack<X, width>;
  using Values = Pack<T, width>;
  const X *x;
  const T *weight, *state;
  const int32_t *segments;
  Values bias;

  HYBRID_DEVICE ShortConvSequence(int64_t batch, int64_t channel, const X *x, const T *weight,
                                  const T *bias, const int32_t *segments, const T *state)
      : x(x + batch * P.length * P.xStride + (P.repeats > 0 ? channel % P.repeats : channel)),
        weight(weight + channel * P.taps),
        state(P.hasState ? state + batch * (P.taps - 1) * P.channels + channel : nullptr),
        segments(P.hasSegments ? segments + batch * P.length : nullptr), bias{} {
    if (P.hasBias && bias)
      this->bias = loadPack<width>(bias + channel);
  }

  /// The inputs at time t >= 0 as they lie in memory; 0 behind the end. What turns them into
  /// numbers waits for them, so loads that are to be under way together are all of these.
  HYBRID_DEVICE Stored stored(int64_t t) const {
    return t < P.length ? loadPack<width>(x + t * P.xStride) : Stored{};
  }
  HYBRID_DEVICE static Values numbers(const Stored &stored) {
    Values values;
    HYBRID_UNROLL
    for (int c = 0; c < width; ++c)
      values[c] = number(stored[c]);
    return values;
  }
  /// The inputs at time t >= 1 - taps; 0 behind the end.
  HYBRID_DEVICE Values input(int64_t t) const {
    if (t >= 0)
      return numbers(stored(t));
    if constexpr (P.hasState != 0)
      return loadPack<width>(state + (t + P.taps - 1) * P.channels);
    return {};
  }
  HYBRID_DEVICE int32_t segment(int64_t t) const {
    if constexpr (P.hasSegments != 0)
      return segments[t < 0 ? 0 : t < P.length ? t : P.length - 1];
    return 0;
  }
  /// Does the input at time s, at or before t, count at row t?
  HYBRID_DEVICE bool counts(int64_t s, int64_t t) const {
    return (s >= 0 || P.hasState) && segment(s) == segment(t);
  }
  HYBRID_DEVICE T tap(int channel, int64_t j) const { return weight[channel * P.taps + j]; }
  /// The sum before the activation, from memory; of one channel.
  HYBRID_DEVICE T convolved(int64_t t) const {
    static_assert(width == 1);
    T sum = bias[0];
    for (int64_t j = 0; j < P.taps; ++j)
      if (int64_t s = t - (P.taps - 1) + j; counts(s, t))
        sum = multiplyAdd(weight[j], input(s)[0], sum);
    return sum;
  }
};

/// The last `taps` inputs of a thread's channels and their segments, in registers.
template <typename T, ShortConvParams P> struct ShortConvInputs {
  static constexpr int width = static_cast<int>(neighboursOfThread(P));
  Pack<T, width> values[P.taps];
  int32_t ids[P.taps];

  /// As after row t - 1.
  template <typename X>
  HYBRID_DEVICE ShortConvInputs(const ShortConvSequence<T, P, X> &sequence, int64_t t) {
    HYBRID_UNROLL
    for (int64_t j = 0; j < P.taps; ++j) {
      int64_t s = t - P.taps + j;
      values[j] = j > 0 ? sequence.input(s) : Pack<T, width>{};
      ids[j] = sequence.segment(s);
    }
  }
  HYBRID_DEVICE void push(const Pack<T, width> &value, int32_t id) {
    HYBRID_UNROLL
    for (int64_t j = 0; j + 1 < P.taps; ++j)
      values[j] = values[j + 1], ids[j] = ids[j + 1];
    values[P.taps - 1] = value, ids[P.taps - 1] = id;
  }
  /// The input of tap j, 0 where it does not count at the last row pushed. Without a state inputs
  /// before the start are 0 already.
  HYBRID_DEVICE T at(int64_t j, int channel) const {
    if constexpr (P.hasSegments != 0)
      return ids[j] == ids[P.taps - 1] ? values[j][channel] : T(0);
    return values[j][channel];
  }
  /// A channel's taps times its inputs, added to `sum`.
  HYBRID_DEVICE T convolved(const T (&taps)[P.taps], int channel, T sum) const {
    HYBRID_UNROLL
    for (int64_t j = 0; j < P.taps; ++j)
      sum = multiplyAdd(taps[j], at(j, channel), sum);
    return sum;
  }
};

template <ShortConvParams P> struct ShortConvItem {
  static constexpr int64_t blocks = channelBlocks(P), parts = ceilDiv(P.length, P.rowsPerItem);
  int64_t rows, batch, first, end, channel;

  HYBRID_DEVICE explicit ShortConvItem(int64_t item)
      : rows(item / blocks), batch(rows / parts), first(rows % parts * P.rowsPerItem),
        end(minimum(first + P.rowsPerItem, P.length)),
        channel((item % blocks * threads(P) + threadIdx.x) * neighboursOfThread(P)) {}
  HYBRID_DEVICE bool exists() const { return channel < P.channels / repeatsOfThread(P); }
};

template <typename T, ShortConvParams P, typename Input, typename Store>
HYBRID_DEVICE void shortConvForward(int64_t index, Input inputBuffer, const T *weight,
                                    const T *bias, const int32_t *segments, const T *state,
                                    T *finalState, Store y) {
  using Sequence = ShortConvSequence<T, P, ElementOf<T, Input>>;
  constexpr int64_t history = P.taps - 1;
  constexpr int width = Sequence::width;
  const ShortConvItem<P> item(index);
  if (!item.exists()) // there is no barrier behind
    return;
  const Sequence sequence(item.batch, item.channel, readable<T>(inputBuffer), weight, bias,
                          segments, state);
  const auto store = asStore<P.yStride>(y);
  auto finish = [&](int64_t t, Pack<T, width> sums) {
    if constexpr (P.activation == 1) {
      HYBRID_UNROLL
      for (int c = 0; c < width; ++c)
        sums[c] *= sigmoid(sums[c]);
    }
    storeNeighbours(store, item.batch * P.length + t, item.channel, sums);
  };
  if constexpr (P.taps <= shortConvWindow) {
    T taps[width][P.taps];
    HYBRID_UNROLL
    for (int c = 0; c < width; ++c)
      HYBRID_UNROLL
    for (int64_t j = 0; j < P.taps; ++j)
      taps[c][j] = sequence.tap(c, j);
    ShortConvInputs<T, P> inputs(sequence, item.first);
    for (int64_t row = item.first; row < item.end; row += shortConvUnroll) {
      typename Sequence::Stored next[shortConvUnroll];
      HYBRID_UNROLL
      for (int i = 0; i < shortConvUnroll; ++i)
        next[i] = sequence.stored(row + i);
      HYBRID_UNROLL
      for (int i = 0; i < shortConvUnroll; ++i) {
        inputs.push(Sequence::numbers(next[i]), sequence.segment(row + i));
        Pack<T, width> sums;
        HYBRID_UNROLL
        for (int c = 0; c < width; ++c)
          sums[c] = inputs.convolved(taps[c], c, sequence.bias[c]);
        if (row + i < item.end)
          finish(row + i, sums);
      }
    }
  } else {
    for (int64_t t = item.first; t < item.end; ++t)
      finish(t, {sequence.convolved(t)});
  }
  if constexpr (P.hasFinalState != 0) {
    T *last = finalState + item.batch * history * P.channels + item.channel;
    if (item.end == P.length)
      for (int64_t k = 0; k < history; ++k) {
        int64_t t = P.length - history + k;
        storePack(last + k * P.channels,
                  sequence.counts(t, P.length - 1) ? sequence.input(t) : Pack<T, width>{});
      }
  }
}

/// A thread's channels that repeat one of x are `P.repeats` apart, and have one gradient of it.
template <typename T, ShortConvParams P, typename Input, typename Cotangent, typename Store>
HYBRID_DEVICE void shortConvBackward(int64_t index, Input inputBuffer, const T *weight,
                                     const int32_t *segments, const T *state,
                                     Cotangent cotangentBuffer, const T *dFinal, T *dInitial,
                                     T *partial, const T *bias, Store dx) {
  using Sequence = ShortConvSequence<T, P, ElementOf<T, Input>>;
  constexpr int64_t taps = P.taps, history = taps - 1;
  constexpr int width = Sequence::width, copies = static_cast<int>(repeatsOfThread(P));
  static_assert(copies == 1 || (!P.hasState && !P.hasFinalState));
  const ShortConvItem<P> item(index);
  if (!item.exists()) // there is no barrier behind
    return;
  auto sequenceOf = [&](int copy) {
    return Sequence(item.batch, item.channel + copy * P.repeats, readable<T>(inputBuffer), weight,
                    bias, segments, state);
  };
  const Sequence sequence = sequenceOf(0);
  const int64_t stateAt = item.batch * history * P.channels + item.channel;
  const auto *dy = readable<T>(cotangentBuffer) + item.batch * P.length * P.yStride + item.channel;
  const auto write = asStore<P.dxStride>(dx);
  partial += item.rows * (taps + 1) * P.channels + item.channel;

  auto slope = [&](T v) {
    T s = sigmoid(v);
    return s * (T(1) + v * (T(1) - s));
  };
  // What reaches the inputs at time s through the final state.
  auto throughFinalState = [&](int64_t s) {
    if constexpr (P.hasFinalState != 0)
      if (int64_t k = s - (P.length - history);
          dFinal && k >= 0 && sequence.counts(s, P.length - 1))
        return loadPack<width>(dFinal + stateAt + k * P.channels);
    return Pack<T, width>{};
  };
  const bool wantsInitial = P.hasState && dInitial && item.first == 0;
  const int64_t firstInput = wantsInitial ? -history : item.first;
  auto store = [&](int64_t s, const Pack<T, width> &values) {
    if (P.hasState && s < 0)
      storePack(dInitial + stateAt + (s + history) * P.channels, values);
    else
      storeNeighbours(write, item.batch * P.length + s, item.channel, values);
  };

  if constexpr (taps <= shortConvWindow) {
    using Upstream = Pack<ElementOf<T, Cotangent>, width>;
    T kept[copies][width][taps], gradients[copies][width][taps] = {};
    Pack<T, width> biases[copies], sums[copies][taps + 1] = {};
    HYBRID_UNROLL
    for (int copy = 0; copy < copies; ++copy) {
      const Sequence own = sequenceOf(copy);
      biases[copy] = own.bias;
      HYBRID_UNROLL
      for (int c = 0; c < width; ++c)
        HYBRID_UNROLL
      for (int64_t j = 0; j < taps; ++j)
        kept[copy][c][j] = own.tap(c, j);
    }
    ShortConvInputs<T, P> inputs(sequence, item.first);
    // Row t completes the gradient of the input at t - history.
    for (int64_t row = item.first; row < item.end + history; row += shortConvBackwardUnroll) {
      typename Sequence::Stored next[shortConvBackwardUnroll];
      Upstream upstream[shortConvBackwardUnroll][copies];
      HYBRID_UNROLL
      for (int i = 0; i < shortConvBackwardUnroll; ++i) {
        int64_t t = row + i;
        next[i] = sequence.stored(t);
        HYBRID_UNROLL
        for (int copy = 0; copy < copies; ++copy)
          upstream[i][copy] =
              t < P.length ? loadPack<width>(dy + t * P.yStride + copy * P.repeats) : Upstream{};
      }
      HYBRID_UNROLL
      for (int i = 0; i < shortConvBackwardUnroll; ++i) {
        const int64_t t = row + i, s = t - history;
        inputs.push(Sequence::numbers(next[i]), sequence.segment(t));
        HYBRID_UNROLL
        for (int copy = 0; copy < copies; ++copy)
          HYBRID_UNROLL
        for (int c = 0; c < width; ++c) {
          T g = number(upstream[i][copy][c]);
          if constexpr (P.activation == 1)
            g *= slope(inputs.convolved(kept[copy][c], c, biases[copy][c]));
          T(&own)[taps] = gradients[copy][c];
          HYBRID_UNROLL
          for (int64_t j = 0; j + 1 < taps; ++j)
            own[j] = own[j + 1];
          own[history] = g; // of rows s, s + 1 .. t
          const T counted = t < item.end ? g : T(0);
          HYBRID_UNROLL
          for (int64_t j = 0; j < taps; ++j)
            sums[copy][j][c] = multiplyAdd(counted, inputs.at(j, c), sums[copy][j][c]);
          sums[copy][taps][c] += counted;
        }
        if (s >= firstInput && s < item.end) {
          Pack<T, width> whole = throughFinalState(s);
          HYBRID_UNROLL
          for (int copy = 0; copy < copies; ++copy)
            HYBRID_UNROLL
          for (int c = 0; c < width; ++c)
            HYBRID_UNROLL
          for (int64_t j = 0; j < taps; ++j)
            if (!P.hasSegments || inputs.ids[0] == inputs.ids[j])
              whole[c] = multiplyAdd(kept[copy][c][history - j], gradients[copy][c][j], whole[c]);
          store(s, whole);
        }
      }
    }
    HYBRID_UNROLL
    for (int copy = 0; copy < copies; ++copy)
      HYBRID_UNROLL
    for (int64_t j = 0; j <= taps; ++j)
      storePack(partial + j * P.channels + copy * P.repeats, sums[copy][j]);
  } else {
    auto gradient = [&](int64_t t, int copy) {
      T g = number(dy[t * P.yStride + copy * P.repeats]);
      return P.activation == 1 ? g * slope(sequenceOf(copy).convolved(t)) : g;
    };
    for (int copy = 0; copy < copies; ++copy)
      for (int64_t j = 0; j <= taps; ++j) {
        T sum = 0;
        for (int64_t t = item.first; t < item.end; ++t) {
          int64_t s = t - history + j;
          if (j == taps)
            sum += gradient(t, copy);
          else if (sequence.counts(s, t))
            sum = multiplyAdd(gradient(t, copy), sequence.input(s)[0], sum);
        }
        partial[j * P.channels + copy * P.repeats] = sum;
      }
    for (int64_t s = firstInput; s < item.end; ++s) {
      T sum = throughFinalState(s)[0];
      for (int copy = 0; copy < copies; ++copy)
        for (int64_t t = maximum<int64_t>(s, 0); t <= minimum(s + history, P.length - 1); ++t)
          if (sequence.counts(s, t))
            sum = multiplyAdd(sequenceOf(copy).tap(0, s + history - t), gradient(t, copy), sum);
      store(s, {sum});
    }
  }
}

} // namespace hybrid::cuda
