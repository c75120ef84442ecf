//===- ExponentialMovingAverage.cuh - an average that forgets --------------===//
//
// A thread walks down the rows of one channel with its average in a register; neighbouring threads
// have neighbouring channels, and rows are loaded a few ahead: bound by memory. The way back is the
// same walk upwards, and computes no state again because y is given.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/ExponentialMovingAverage.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Rows [first, end) of a thread's channel of one sequence.
template <typename T, ExponentialMovingAverageParams P> struct MovingAverageItem {
  static constexpr int rowsAhead = 8;
  int64_t batch, block, first, end, channel;
  const int32_t *segments; // of the sequence

  HYBRID_DEVICE MovingAverageItem(int64_t item, const int32_t *ids) {
    constexpr int64_t width = ExponentialMovingAverageWidth::onCuda<T>(P),
                      groups = ceilDiv(P.channels, width);
    channel = item % groups * width + threadIdx.x, item /= groups;
    block = item % P.timeBlocks, batch = item / P.timeBlocks;
    first = block * P.blockRows, end = minimum(first + P.blockRows, P.length);
    segments = P.hasSegments ? ids + batch * P.length : nullptr;
  }

  HYBRID_DEVICE bool hasChannel() const { return channel < P.channels; }
  /// Whether a segment starts at row t, which then has nothing before it.
  HYBRID_DEVICE bool starts(int64_t t) const {
    if constexpr (P.hasSegments != 0)
      return t > 0 && segments[t] != segments[t - 1];
    return false;
  }
  HYBRID_DEVICE int64_t at(int64_t t, int64_t stride) const {
    return (batch * P.length + t) * stride + channel;
  }
  /// Of [batch, channels], and of [timeBlocks, batch, channels].
  HYBRID_DEVICE int64_t state() const { return batch * P.channels + channel; }
  HYBRID_DEVICE int64_t state(int64_t b) const {
    return (b * P.batch + batch) * P.channels + channel;
  }

  /// Calls load(i, t) for a few rows and then body(i, t) for them, down the item or up.
  template <bool up, typename Load, typename Body>
  HYBRID_DEVICE void forRows(Load load, Body body) const {
    HYBRID_NO_UNROLL
    for (int64_t from = 0; from < end - first; from += rowsAhead) {
      auto rowOf = [&](int i) { return up ? end - 1 - from - i : first + from + i; };
      HYBRID_UNROLL
      for (int i = 0; i < rowsAhead; ++i)
        if (from + i < end - first)
          load(i, rowOf(i));
      HYBRID_UNROLL
      for (int i = 0; i < rowsAhead; ++i)
        if (from + i < end - first)
          body(i, rowOf(i));
    }
  }

  /// `value` behind the other blocks [from, to), or backwards where to < from.
  HYBRID_DEVICE T pass(int64_t from, int64_t to, const T *blockDecay, const T *offset,
                       T value) const {
    const int64_t step = from < to ? 1 : -1;
    for (int64_t b = from; b != to; b += step)
      value = multiplyAdd(blockDecay[state(b)], value, offset[state(b)]);
    return value;
  }
};

template <typename T, ExponentialMovingAverageParams P>
HYBRID_DEVICE void exponentialMovingAverageSummary(int64_t index, const T *x, const T *decay,
                                                   const int32_t *segments, T *blockDecay,
                                                   T *offset) {
  using Item = MovingAverageItem<T, P>;
  const Item item(index, segments);
  if (!item.hasChannel()) // there is no barrier behind
    return;
  const T a = decay[item.channel];
  T value = 0, product = 1, inputs[Item::rowsAhead];
  item.template forRows<P.reverse != 0>(
      [&](int i, int64_t t) { inputs[i] = x[item.at(t, P.xStride)]; },
      [&](int i, int64_t t) {
        const T kept = item.starts(t) ? T(0) : a;
        value = P.reverse ? kept * (value + inputs[i])
                          : multiplyAdd(kept, value, (T(1) - a) * inputs[i]);
        product *= kept;
      });
  blockDecay[item.state(item.block)] = product;
  offset[item.state(item.block)] = value;
}

template <typename T, ExponentialMovingAverageParams P, typename Store>
HYBRID_DEVICE void exponentialMovingAverageForward(int64_t index, const T *x, const T *decay,
                                                   const int32_t *segments, const T *initialState,
                                                   const T *blockDecay, const T *offset,
                                                   T *finalState, Store y) {
  using Item = MovingAverageItem<T, P>;
  const Item item(index, segments);
  if (!item.hasChannel()) // there is no barrier behind
    return;
  const T a = decay[item.channel];
  T average = P.hasState ? initialState[item.state()] : T(0), inputs[Item::rowsAhead];
  if constexpr (P.timeBlocks > 1)
    average = item.pass(0, item.block, blockDecay, offset, average);
  const auto store = asStore<P.yStride>(y);
  item.template forRows<false>([&](int i, int64_t t) { inputs[i] = x[item.at(t, P.xStride)]; },
                               [&](int i, int64_t t) {
                                 const T before = item.starts(t) ? T(0) : average;
                                 average = multiplyAdd(a, before, (T(1) - a) * inputs[i]);
                                 store(item.batch * P.length + t, item.channel, average);
                               });
  if constexpr (P.hasFinalState != 0)
    if (item.end == P.length)
      finalState[item.state()] = average;
}

template <typename T, ExponentialMovingAverageParams P, typename Store>
HYBRID_DEVICE void exponentialMovingAverageBackward(int64_t index, const T *x, const T *decay,
                                                    const int32_t *segments, const T *initialState,
                                                    const T *y, const T *dy, const T *blockDecay,
                                                    const T *offset, const T *dFinalState,
                                                    T *dInitialState, T *partial, Store dx) {
  using Item = MovingAverageItem<T, P>;
  const Item item(index, segments);
  if (!item.hasChannel()) // there is no barrier behind
    return;
  const T a = decay[item.channel];
  // carry: what passes from a row to the one before, a g.
  T carry = P.hasFinalState ? dFinalState[item.state()] : T(0), sum = 0;
  if constexpr (P.timeBlocks > 1)
    carry = item.pass(P.timeBlocks - 1, item.block, blockDecay, offset, carry);
  const auto store = asStore<P.dxStride>(dx);
  T gradients[Item::rowsAhead], differences[Item::rowsAhead];
  item.template forRows<true>(
      [&](int i, int64_t t) {
        T before = 0;
        if (t == 0)
          before = P.hasState ? initialState[item.state()] : T(0);
        else if (!item.starts(t))
          before = y[item.at(t - 1, P.yStride)];
        gradients[i] = dy[item.at(t, P.dyStride)];
        differences[i] = before - x[item.at(t, P.xStride)];
      },
      [&](int i, int64_t t) {
        const T g = gradients[i] + carry;
        sum = multiplyAdd(g, differences[i], sum);
        carry = item.starts(t) ? T(0) : a * g;
        store(item.batch * P.length + t, item.channel, (T(1) - a) * g);
      });
  partial[item.state(item.block)] = sum;
  if constexpr (P.stateGradient != 0)
    if (item.block == 0)
      dInitialState[item.state()] = carry;
}

} // namespace hybrid::cuda
