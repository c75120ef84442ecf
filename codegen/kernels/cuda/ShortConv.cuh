//===- ShortConv.cuh - short depthwise causal convolution ------------------===//
//
// A thread walks down the rows of one channel; inputs, and gradients on the way back, are windows
// in registers, so that each row is read once (and K - 1 rows twice at the ends of items).
// Neighbouring threads read neighbouring channels: bound by memory.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/ShortConv.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Taps up to which windows are kept in registers; longer filters read inputs again, from L1.
constexpr int64_t shortConvWindow = 8;
/// Rows whose loads are under way at the same time.
constexpr int shortConvUnroll = 8;

/// One channel of one sequence.
template <typename T, ShortConvParams P, typename X> struct ShortConvSequence {
  const X *x;
  const T *weight, *state;
  const int32_t *segments;
  T bias;

  HYBRID_DEVICE ShortConvSequence(int64_t batch, int64_t channel, const X *x, const T *weight,
                                  const T *bias, const int32_t *segments, const T *state)
      : x(x + batch * P.length * P.xStride + (P.repeats > 0 ? channel % P.repeats : channel)),
        weight(weight + channel * P.taps),
        state(P.hasState ? state + batch * (P.taps - 1) * P.channels + channel : nullptr),
        segments(P.hasSegments ? segments + batch * P.length : nullptr),
        bias(P.hasBias && bias ? bias[channel] : T(0)) {}

  /// The input at time t >= 0 as it lies in memory; 0 behind the end. What turns it into a number
  /// waits for it, so loads that are to be under way together are all of these.
  HYBRID_DEVICE X stored(int64_t t) const { return t < P.length ? x[t * P.xStride] : X{}; }
  /// The input at time t >= 1 - taps; 0 behind the end.
  HYBRID_DEVICE T input(int64_t t) const {
    if (t >= 0)
      return number(stored(t));
    if constexpr (P.hasState != 0)
      return state[(t + P.taps - 1) * P.channels];
    return T(0);
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
  /// The sum before the activation, from memory.
  HYBRID_DEVICE T convolved(int64_t t) const {
    T sum = bias;
    for (int64_t j = 0; j < P.taps; ++j)
      if (int64_t s = t - (P.taps - 1) + j; counts(s, t))
        sum = multiplyAdd(weight[j], input(s), sum);
    return sum;
  }
};

/// The last `taps` inputs of a channel and their segments, in registers.
template <typename T, ShortConvParams P> struct ShortConvInputs {
  T values[P.taps];
  int32_t ids[P.taps];

  /// As after row t - 1.
  template <typename X>
  HYBRID_DEVICE ShortConvInputs(const ShortConvSequence<T, P, X> &sequence, int64_t t) {
    HYBRID_UNROLL
    for (int64_t j = 0; j < P.taps; ++j) {
      int64_t s = t - P.taps + j;
      values[j] = j > 0 ? sequence.input(s) : T(0);
      ids[j] = sequence.segment(s);
    }
  }
  HYBRID_DEVICE void push(T value, int32_t id) {
    HYBRID_UNROLL
    for (int64_t j = 0; j + 1 < P.taps; ++j)
      values[j] = values[j + 1], ids[j] = ids[j + 1];
    values[P.taps - 1] = value, ids[P.taps - 1] = id;
  }
  /// The input of tap j, 0 where it does not count at the last row pushed. Without a state inputs
  /// before the start are 0 already.
  HYBRID_DEVICE T at(int64_t j) const {
    if constexpr (P.hasSegments != 0)
      return ids[j] == ids[P.taps - 1] ? values[j] : T(0);
    return values[j];
  }
};

struct ShortConvItem {
  int64_t rows, batch, first, end, channel;

  HYBRID_DEVICE ShortConvItem(const ShortConvParams &p, int64_t blocks, int64_t item)
      : rows(item / blocks), batch(rows / ceilDivide(p.length, p.rowsPerItem)),
        first(rows % ceilDivide(p.length, p.rowsPerItem) * p.rowsPerItem),
        end(minimum(first + p.rowsPerItem, p.length)),
        channel(item % blocks * blockDim.x + threadIdx.x) {}

private:
  HYBRID_DEVICE static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
};

template <typename T, ShortConvParams P, typename Input, typename Store>
HYBRID_DEVICE void shortConvForward(int64_t index, Input inputBuffer, const T *weight,
                                    const T *bias, const int32_t *segments, const T *state,
                                    T *finalState, Store y) {
  constexpr int64_t blocks = channelBlocks(P), history = P.taps - 1;
  const ShortConvItem item(P, blocks, index);
  if (item.channel >= P.channels) // there is no barrier behind
    return;
  const ShortConvSequence<T, P, ElementOf<T, Input>> sequence(
      item.batch, item.channel, readable<T>(inputBuffer), weight, bias, segments, state);
  const auto store = asStore<P.yStride>(y);
  auto finish = [&](int64_t t, T sum) {
    store(item.batch * P.length + t, item.channel, P.activation == 1 ? sum * sigmoid(sum) : sum);
  };
  if constexpr (P.taps <= shortConvWindow) {
    T taps[P.taps];
    HYBRID_UNROLL
    for (int64_t j = 0; j < P.taps; ++j)
      taps[j] = sequence.weight[j];
    ShortConvInputs<T, P> inputs(sequence, item.first);
    for (int64_t row = item.first; row < item.end; row += shortConvUnroll) {
      ElementOf<T, Input> next[shortConvUnroll];
      HYBRID_UNROLL
      for (int i = 0; i < shortConvUnroll; ++i)
        next[i] = sequence.stored(row + i);
      HYBRID_UNROLL
      for (int i = 0; i < shortConvUnroll; ++i) {
        inputs.push(number(next[i]), sequence.segment(row + i));
        T sum = sequence.bias;
        HYBRID_UNROLL
        for (int64_t j = 0; j < P.taps; ++j)
          sum = multiplyAdd(taps[j], inputs.at(j), sum);
        if (row + i < item.end)
          finish(row + i, sum);
      }
    }
  } else {
    for (int64_t t = item.first; t < item.end; ++t)
      finish(t, sequence.convolved(t));
  }
  if constexpr (P.hasFinalState != 0) {
    T *last = finalState + item.batch * history * P.channels + item.channel;
    if (item.end == P.length)
      for (int64_t k = 0; k < history; ++k) {
        int64_t t = P.length - history + k;
        last[k * P.channels] = sequence.counts(t, P.length - 1) ? sequence.input(t) : T(0);
      }
  }
}

/// A thread's channels that repeat one of x are `P.repeats` apart, and have one gradient of it.
template <typename T, ShortConvParams P, typename Input, typename Cotangent, typename Store>
HYBRID_DEVICE void shortConvBackward(int64_t index, Input inputBuffer, const T *weight,
                                     const int32_t *segments, const T *state,
                                     Cotangent cotangentBuffer, const T *dFinal, T *dInitial,
                                     T *partial, const T *bias, Store dx) {
  constexpr int64_t blocks = channelBlocks(P), taps = P.taps, history = taps - 1;
  constexpr int copies = static_cast<int>(channelsOfThread(P));
  static_assert(copies == 1 || (!P.hasState && !P.hasFinalState));
  const ShortConvItem item(P, blocks, index);
  if (item.channel >= P.channels / copies) // there is no barrier behind
    return;
  auto sequenceOf = [&](int copy) {
    return ShortConvSequence<T, P, ElementOf<T, Input>>(item.batch, item.channel + copy * P.repeats,
                                                        readable<T>(inputBuffer), weight, bias,
                                                        segments, state);
  };
  const auto sequence = sequenceOf(0);
  const int64_t stateAt = item.batch * history * P.channels + item.channel;
  const auto *dy = readable<T>(cotangentBuffer) + item.batch * P.length * P.yStride + item.channel;
  const auto write = asStore<P.dxStride>(dx);
  partial += item.rows * (taps + 1) * P.channels + item.channel;

  auto slope = [&](T v) {
    T s = sigmoid(v);
    return s * (T(1) + v * (T(1) - s));
  };
  // What reaches the input at time s through the final state.
  auto throughFinalState = [&](int64_t s) {
    if constexpr (P.hasFinalState != 0)
      if (int64_t k = s - (P.length - history);
          dFinal && k >= 0 && sequence.counts(s, P.length - 1))
        return dFinal[stateAt + k * P.channels];
    return T(0);
  };
  const bool wantsInitial = P.hasState && dInitial && item.first == 0;
  const int64_t firstInput = wantsInitial ? -history : item.first;
  auto store = [&](int64_t s, T value) {
    if (P.hasState && s < 0)
      dInitial[stateAt + (s + history) * P.channels] = value;
    else
      write(item.batch * P.length + s, item.channel, value);
  };

  if constexpr (taps <= shortConvWindow) {
    T kept[copies][taps], biases[copies], sums[copies][taps + 1] = {}, gradients[copies][taps] = {};
    HYBRID_UNROLL
    for (int copy = 0; copy < copies; ++copy) {
      const auto own = sequenceOf(copy);
      biases[copy] = own.bias;
      HYBRID_UNROLL
      for (int64_t j = 0; j < taps; ++j)
        kept[copy][j] = own.weight[j];
    }
    ShortConvInputs<T, P> inputs(sequence, item.first);
    // Row t completes the gradient of the input at t - history.
    for (int64_t row = item.first; row < item.end + history; row += shortConvUnroll) {
      ElementOf<T, Input> next[shortConvUnroll];
      ElementOf<T, Cotangent> upstream[shortConvUnroll][copies];
      HYBRID_UNROLL
      for (int i = 0; i < shortConvUnroll; ++i) {
        int64_t t = row + i;
        next[i] = sequence.stored(t);
        HYBRID_UNROLL
        for (int copy = 0; copy < copies; ++copy)
          upstream[i][copy] =
              t < P.length ? dy[t * P.yStride + copy * P.repeats] : ElementOf<T, Cotangent>{};
      }
      HYBRID_UNROLL
      for (int i = 0; i < shortConvUnroll; ++i) {
        const int64_t t = row + i, s = t - history;
        inputs.push(number(next[i]), sequence.segment(t));
        HYBRID_UNROLL
        for (int copy = 0; copy < copies; ++copy) {
          T g = number(upstream[i][copy]);
          if constexpr (P.activation == 1) {
            T sum = biases[copy];
            HYBRID_UNROLL
            for (int64_t j = 0; j < taps; ++j)
              sum = multiplyAdd(kept[copy][j], inputs.at(j), sum);
            g *= slope(sum);
          }
          HYBRID_UNROLL
          for (int64_t j = 0; j + 1 < taps; ++j)
            gradients[copy][j] = gradients[copy][j + 1];
          gradients[copy][history] = g; // of rows s, s + 1 .. t
          if (t < item.end) {
            HYBRID_UNROLL
            for (int64_t j = 0; j < taps; ++j)
              sums[copy][j] = multiplyAdd(g, inputs.at(j), sums[copy][j]);
            sums[copy][taps] += g;
          }
        }
        if (s >= firstInput && s < item.end) {
          T sum = throughFinalState(s);
          HYBRID_UNROLL
          for (int copy = 0; copy < copies; ++copy)
            HYBRID_UNROLL
          for (int64_t j = 0; j < taps; ++j)
            if (!P.hasSegments || inputs.ids[0] == inputs.ids[j])
              sum = multiplyAdd(kept[copy][history - j], gradients[copy][j], sum);
          store(s, sum);
        }
      }
    }
    HYBRID_UNROLL
    for (int copy = 0; copy < copies; ++copy)
      HYBRID_UNROLL
    for (int64_t j = 0; j <= taps; ++j)
      partial[j * P.channels + copy * P.repeats] = sums[copy][j];
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
            sum = multiplyAdd(gradient(t, copy), sequence.input(s), sum);
        }
        partial[j * P.channels + copy * P.repeats] = sum;
      }
    for (int64_t s = firstInput; s < item.end; ++s) {
      T sum = throughFinalState(s);
      for (int copy = 0; copy < copies; ++copy)
        for (int64_t t = maximum<int64_t>(s, 0); t <= minimum(s + history, P.length - 1); ++t)
          if (sequence.counts(s, t))
            sum = multiplyAdd(sequenceOf(copy).weight[s + history - t], gradient(t, copy), sum);
      store(s, sum);
    }
  }
}

} // namespace hybrid::cuda
