//===- ExponentialMovingAverage.cpp - an average that forgets -------------===//
//
// Lanes are channels. An item walks down its rows with the averages of a few vectors of channels in
// registers; nothing is kept between rows, so it is bound by memory. The way back is the same walk
// upwards, and computes no state again because y is given.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/ExponentialMovingAverage.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

using Params = ExponentialMovingAverageParams;

/// Rows [first, end) of some vectors of channels of one sequence.
template <typename T> struct Item {
  static constexpr int64_t width = ExponentialMovingAverageWidth::onCpu<T>({}),
                           vectors = width / lanes<T>;

  const Params &params;
  const int32_t *segments; // of the sequence
  int64_t batch, block, first, end, channel;

  Item(int64_t item, const Params &params, const void *ids) : params(params) {
    const int64_t groups = ceilDiv(params.channels, width);
    channel = item % groups * width, item /= groups;
    block = item % params.timeBlocks, batch = item / params.timeBlocks;
    first = block * params.blockRows, end = minimum(first + params.blockRows, params.length);
    segments =
        params.hasSegments ? static_cast<const int32_t *>(ids) + batch * params.length : nullptr;
  }

  /// Whether a segment starts at row t, which then has nothing before it.
  bool starts(int64_t t) const {
    return params.hasSegments && t > 0 && segments[t] != segments[t - 1];
  }
  /// Row t of an activation, and row `index` of [..., channels], at the item's first channel.
  T *row(void *activation, int64_t stride, int64_t t) const {
    return static_cast<T *>(activation) + (batch * params.length + t) * stride + channel;
  }
  T *state(void *states, int64_t index) const {
    return static_cast<T *>(states) + index * params.channels + channel;
  }

  template <typename Body> HYBRID_INLINE_LAMBDA void forVectors(Body body) const {
    HYBRID_UNROLL
    for (int64_t v = 0; v < vectors; ++v)
      body(v);
  }
  /// Channels in vector v: behind the last there are none, and nothing is read or written.
  int64_t channelsOf(int64_t v) const {
    if (params.channels % width == 0)
      return lanes<T>;
    return maximum(0, minimum(lanes<T>, params.channels - channel - v * lanes<T>));
  }
  Vector<T> read(const T *row, int64_t v) const {
    return loadPart(row + v * lanes<T>, channelsOf(v));
  }
  void write(T *row, int64_t v, Vector<T> value) const {
    storePart(row + v * lanes<T>, value, channelsOf(v));
  }

  /// Takes `values` through the other blocks [from, to), or backwards where to < from.
  HYBRID_INLINE_LAMBDA void pass(int64_t from, int64_t to, void *blockDecay, void *offset,
                                 Vector<T> (&values)[vectors]) const {
    const int64_t step = from < to ? 1 : -1;
    for (int64_t b = from; b != to; b += step) {
      const T *decays = state(blockDecay, b * params.batch + batch),
              *offsets = state(offset, b * params.batch + batch);
      forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
        values[v] = read(decays, v) * values[v] + read(offsets, v);
      });
    }
  }
};

template <typename T>
HYBRID_INLINE void exponential_moving_average_summary(int64_t index, Buffers buffers,
                                                      const Params &params) {
  const Item<T> item(index, params, buffers[2]);
  Vector<T> a[Item<T>::vectors], value[Item<T>::vectors], product[Item<T>::vectors];
  item.forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
    a[v] = item.read(item.state(buffers[1], 0), v);
    value[v] = splat(T(0)), product[v] = splat(T(1));
  });
  for (int64_t i = 0; i < item.end - item.first; ++i) {
    const int64_t t = params.reverse ? item.end - 1 - i : item.first + i;
    const T *x = item.row(buffers[0], params.xStride, t);
    const bool starts = item.starts(t);
    item.forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
      const Vector<T> decay = starts ? splat(T(0)) : a[v], input = item.read(x, v);
      value[v] =
          params.reverse ? decay * (value[v] + input) : decay * value[v] + (T(1) - a[v]) * input;
      product[v] *= decay;
    });
  }
  const int64_t to = item.block * params.batch + item.batch;
  item.forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
    item.write(item.state(buffers[3], to), v, product[v]);
    item.write(item.state(buffers[4], to), v, value[v]);
  });
}

template <typename T>
HYBRID_INLINE void exponential_moving_average_forward(int64_t index, Buffers buffers,
                                                      const Params &params) {
  const Item<T> item(index, params, buffers[2]);
  Vector<T> a[Item<T>::vectors], average[Item<T>::vectors];
  item.forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
    a[v] = item.read(item.state(buffers[1], 0), v);
    average[v] = params.hasState ? item.read(item.state(buffers[3], item.batch), v) : splat(T(0));
  });
  item.pass(0, item.block, buffers[4], buffers[5], average);
  for (int64_t t = item.first; t < item.end; ++t) {
    const T *x = item.row(buffers[0], params.xStride, t);
    T *y = item.row(buffers[7], params.yStride, t);
    const bool starts = item.starts(t);
    item.forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
      const Vector<T> before = starts ? splat(T(0)) : average[v];
      average[v] = a[v] * before + (T(1) - a[v]) * item.read(x, v);
      item.write(y, v, average[v]);
    });
  }
  if (params.hasFinalState && item.end == params.length)
    item.forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
      item.write(item.state(buffers[6], item.batch), v, average[v]);
    });
}

template <typename T>
HYBRID_INLINE void exponential_moving_average_backward(int64_t index, Buffers buffers,
                                                       const Params &params) {
  const Item<T> item(index, params, buffers[2]);
  // carry: what passes from a row to the one before, a g.
  Vector<T> a[Item<T>::vectors], carry[Item<T>::vectors], sum[Item<T>::vectors];
  item.forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
    a[v] = item.read(item.state(buffers[1], 0), v), sum[v] = splat(T(0));
    carry[v] =
        params.hasFinalState ? item.read(item.state(buffers[8], item.batch), v) : splat(T(0));
  });
  item.pass(params.timeBlocks - 1, item.block, buffers[6], buffers[7], carry);
  for (int64_t t = item.end - 1; t >= item.first; --t) {
    const bool starts = item.starts(t), hasBefore = !starts && (t > 0 || params.hasState);
    const T *x = item.row(buffers[0], params.xStride, t),
            *dy = item.row(buffers[5], params.dyStride, t),
            *before = t > 0 ? item.row(buffers[4], params.yStride, t - 1)
                            : item.state(buffers[3], item.batch);
    T *dx = item.row(buffers[11], params.dxStride, t);
    item.forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
      const Vector<T> g = item.read(dy, v) + carry[v];
      const Vector<T> old = hasBefore ? item.read(before, v) : splat(T(0));
      sum[v] += g * (old - item.read(x, v));
      carry[v] = starts ? splat(T(0)) : a[v] * g;
      item.write(dx, v, (T(1) - a[v]) * g);
    });
  }
  const int64_t to = item.block * params.batch + item.batch;
  item.forVectors([&](int64_t v) HYBRID_INLINE_LAMBDA {
    item.write(item.state(buffers[10], to), v, sum[v]);
    if (params.stateGradient && item.block == 0)
      item.write(item.state(buffers[9], item.batch), v, carry[v]);
  });
}

} // namespace

HYBRID_KERNEL(exponential_moving_average_summary, ExponentialMovingAverageParams)
HYBRID_KERNEL(exponential_moving_average_forward, ExponentialMovingAverageParams)
HYBRID_KERNEL(exponential_moving_average_backward, ExponentialMovingAverageParams)
