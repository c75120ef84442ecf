//===- LinearScanReference.h - scan of an outer-product state, step by step --===//
#pragma once
#include "KernelTest.h"
#include "codegen/kernels/LinearScan.h"

namespace hybrid::cpu::test {

struct LinearScanCase {
  int64_t batch = 2, length = 19, heads = 2, keys = 5, values = 6;
  ScanDecay decay = ScanDecay::KeyAndTime;
  bool exclusive = false, segments = false, state = false, finalState = false;
  bool decayGradient = true;
  double strength = 0.5; // decays are e^-strength or so
  int64_t blocks = 1;    // of a scan divided over time
};

inline size_t at(int64_t index) { return static_cast<size_t>(index); }

/// All states of all steps are kept; the gradient runs over them backwards.
struct LinearScanReference {
  Doubles q, k, v, g, initial, dO, dFinal;
  Doubles o, last, dq, dk, dv, dg, dInitial;
  std::vector<int32_t> segments;

  static int64_t decays(const LinearScanCase &c) {
    switch (c.decay) {
    case ScanDecay::None:
      return 1;
    case ScanDecay::KeyAndTime:
      return c.batch * c.length * c.heads * c.keys;
    case ScanDecay::HeadAndTime:
      return c.batch * c.length * c.heads;
    case ScanDecay::Key:
      return c.heads * c.keys;
    case ScanDecay::Head:
      return c.heads;
    }
    return 0;
  }
  static int64_t decayAt(const LinearScanCase &c, int64_t b, int64_t t, int64_t h, int64_t key) {
    switch (c.decay) {
    case ScanDecay::None:
      return 0;
    case ScanDecay::KeyAndTime:
      return ((b * c.length + t) * c.heads + h) * c.keys + key;
    case ScanDecay::HeadAndTime:
      return (b * c.length + t) * c.heads + h;
    case ScanDecay::Key:
      return h * c.keys + key;
    case ScanDecay::Head:
      return h;
    }
    return 0;
  }

  explicit LinearScanReference(const LinearScanCase &c) {
    int64_t rows = c.batch * c.length * c.heads, states = c.batch * c.heads * c.keys * c.values;
    q = randomDoubles(rows * c.keys, 1), k = randomDoubles(rows * c.keys, 2);
    v = randomDoubles(rows * c.values, 3), dO = randomDoubles(rows * c.values, 4);
    initial = randomDoubles(states, 5), dFinal = randomDoubles(states, 6);
    g = randomDoubles(decays(c), 7);
    for (double &x : g)
      x = c.decay == ScanDecay::None ? 0 : static_cast<float>(-c.strength * std::fabs(x));
    for (int64_t r = 0; r < c.batch * c.length; ++r)
      segments.push_back(static_cast<int32_t>((r % c.length + r / c.length) * 2 / 9));
    o.assign(v.size(), 0), dv = o, dq.assign(q.size(), 0), dk = dq, dg.assign(g.size(), 0);
    last.assign(initial.size(), 0), dInitial = last;
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t h = 0; h < c.heads; ++h)
        runHead(c, b, h);
  }

  void runHead(const LinearScanCase &c, int64_t b, int64_t h) {
    const double scale = 0.75;
    auto key = [&](int64_t t, int64_t i) {
      return at(((b * c.length + t) * c.heads + h) * c.keys + i);
    };
    auto value = [&](int64_t t, int64_t j) {
      return at(((b * c.length + t) * c.heads + h) * c.values + j);
    };
    auto stateAt = [&](int64_t i, int64_t j) {
      return at(((b * c.heads + h) * c.keys + i) * c.values + j);
    };
    auto starts = [&](int64_t t) {
      return c.segments && t > 0 &&
             segments[at(b * c.length + t)] != segments[at(b * c.length + t - 1)];
    };
    for (int64_t i = 0; i < c.keys; ++i)
      for (int64_t j = 0; j < c.values; ++j) {
        // One element of the state is a scalar recurrence.
        Doubles before(at(c.length)), after(at(c.length));
        double s = c.state ? initial[stateAt(i, j)] : 0;
        for (int64_t t = 0; t < c.length; ++t) {
          if (starts(t))
            s = 0;
          before[at(t)] = s;
          s = std::exp(g[at(decayAt(c, b, t, h, i))]) * s + k[key(t, i)] * v[value(t, j)];
          after[at(t)] = s;
          o[value(t, j)] += scale * q[key(t, i)] * (c.exclusive ? before : after)[at(t)];
        }
        last[stateAt(i, j)] = s;
        double ds = c.finalState ? dFinal[stateAt(i, j)] : 0;
        for (int64_t t = c.length - 1; t >= 0; --t) {
          double alpha = std::exp(g[at(decayAt(c, b, t, h, i))]);
          double readOut = scale * q[key(t, i)] * dO[value(t, j)];
          dq[key(t, i)] += scale * dO[value(t, j)] * (c.exclusive ? before : after)[at(t)];
          if (!c.exclusive)
            ds += readOut;
          dk[key(t, i)] += ds * v[value(t, j)];
          dv[value(t, j)] += ds * k[key(t, i)];
          dg[at(decayAt(c, b, t, h, i))] += alpha * before[at(t)] * ds;
          ds *= alpha;
          if (c.exclusive)
            ds += readOut;
          if (starts(t))
            ds = 0;
        }
        dInitial[stateAt(i, j)] = ds;
      }
  }
};

} // namespace hybrid::cpu::test
