//===- FFTConvReference.h - gated long convolution, by the direct sum ------===//
#pragma once
#include "test/kernels/Launch.h"

namespace hybrid::test {

struct FFTConvCase {
  int64_t batch, length, channels, taps;
  bool skip, gateIn, gateOut, segments;
};

/// Operands in double, and the reference: y, and the gradients of sum(y * dy).
struct FFTConvReference {
  Doubles x, filter, skip, gateIn, gateOut, dy;
  std::vector<int32_t> segments;
  Doubles y, dx, dFilter, dSkip, dGateIn, dGateOut;

  explicit FFTConvReference(const FFTConvCase &c) {
    int64_t rows = c.batch * c.length, size = rows * c.channels;
    x = randomDoubles(size, 1), filter = randomDoubles(c.taps * c.channels, 2, 0.3);
    skip = randomDoubles(c.channels, 3), dy = randomDoubles(size, 6);
    gateIn = randomDoubles(size, 4), gateOut = randomDoubles(size, 5);
    segments.assign(static_cast<size_t>(rows), 0);
    for (int64_t r = 0; r < rows; ++r) {
      // Runs of uneven lengths, with ids that come back.
      int64_t t = r % c.length, b = r / c.length;
      segments[static_cast<size_t>(r)] = static_cast<int32_t>(
          t < 3 ? 0 : t * (b + 2) / (c.length / 2 + 3) + (t > 50) - 2 * (t > 90));
    }
    y = dx = dGateIn = dGateOut = Doubles(static_cast<size_t>(size));
    dFilter.assign(filter.size(), 0), dSkip.assign(skip.size(), 0);
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t ch = 0; ch < c.channels; ++ch)
        sequence(c, b, ch);
  }

private:
  void sequence(const FFTConvCase &c, int64_t b, int64_t ch) {
    auto at = [&](int64_t t) { return static_cast<size_t>((b * c.length + t) * c.channels + ch); };
    auto tap = [&](int64_t s) { return static_cast<size_t>(s * c.channels + ch); };
    auto channel = static_cast<size_t>(ch);
    Doubles w(static_cast<size_t>(c.length)), dw(w.size());
    for (int64_t t = 0; t < c.length; ++t)
      w[static_cast<size_t>(t)] = x[at(t)] * (c.gateIn ? gateIn[at(t)] : 1);
    for (int64_t t = 0, start = 0; t < c.length; ++t) {
      const int32_t *ids = segments.data() + b * c.length;
      if (c.segments && ids[t] != ids[start])
        start = t;
      double sum = c.skip ? skip[channel] * w[static_cast<size_t>(t)] : 0;
      double ds = dy[at(t)] * (c.gateOut ? gateOut[at(t)] : 1);
      for (int64_t s = 0; s < c.taps && t - s >= start; ++s) {
        auto u = static_cast<size_t>(t - s);
        sum += filter[tap(s)] * w[u];
        dw[u] += ds * filter[tap(s)];
        dFilter[tap(s)] += ds * w[u];
      }
      if (c.skip) {
        dw[static_cast<size_t>(t)] += ds * skip[channel];
        dSkip[channel] += ds * w[static_cast<size_t>(t)];
      }
      y[at(t)] = sum * (c.gateOut ? gateOut[at(t)] : 1);
      dGateOut[at(t)] = dy[at(t)] * sum;
    }
    for (int64_t t = 0; t < c.length; ++t) {
      dx[at(t)] = dw[static_cast<size_t>(t)] * (c.gateIn ? gateIn[at(t)] : 1);
      dGateIn[at(t)] = dw[static_cast<size_t>(t)] * x[at(t)];
    }
  }
};

/// Operands and results of either algorithm, as its parameters say, with gaps between rows; those
/// that are left out have no memory.
template <typename T, typename Params> struct FFTConvTensors {
  FFTConvReference r;
  int64_t rows, channels;
  Tensor<T> x, filter, skip, gateIn, gateOut, dy, y, dx, dSkip, dGateIn, dGateOut;
  const int32_t *segments;

  FFTConvTensors(const Params &p, bool hasSegments)
      : r(FFTConvCase{p.batch, p.length, p.channels, p.taps, p.hasSkip != 0, p.hasGateIn != 0,
                      p.hasGateOut != 0, hasSegments}),
        rows(p.batch * p.length), channels(p.channels), x(r.x, rows, channels, p.xStride),
        filter(r.filter, p.taps, channels), dy(r.dy, rows, channels, p.yStride),
        y(rows, channels, p.yStride), dx(rows, channels, p.dxStride),
        segments(hasSegments ? r.segments.data() : nullptr) {
    if (p.hasSkip)
      skip = Tensor<T>(r.skip, 1, channels), dSkip = Tensor<T>(1, channels);
    if (p.hasGateIn) {
      gateIn = Tensor<T>(r.gateIn, rows, channels, p.gateInStride);
      dGateIn = Tensor<T>(rows, channels, p.dGateInStride);
    }
    if (p.hasGateOut) {
      gateOut = Tensor<T>(r.gateOut, rows, channels, p.gateOutStride);
      dGateOut = Tensor<T>(rows, channels, p.dGateOutStride);
    }
  }
  /// Of activations; not of the filter and of the skip term.
  void expectGradients(double bound) {
    EXPECT_LT(relativeError(dx.values(), r.dx), bound);
    if (gateIn.data()) {
      EXPECT_LT(relativeError(dGateIn.values(), r.dGateIn), bound);
    }
    if (gateOut.data()) {
      EXPECT_LT(relativeError(dGateOut.values(), r.dGateOut), bound);
    }
  }
};

} // namespace hybrid::test
