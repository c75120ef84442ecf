//===- ShortConvReference.h - short convolution, by the direct sum ---------===//
#pragma once
#include "test/unit/kernels/KernelTest.h"

namespace hybrid::cpu::test {

struct ShortConvCase {
  int64_t batch = 2, length = 33, channels = 17, taps = 3, rowsPerItem = 10;
  bool bias = true, segments = false, state = false, finalState = false, silu = false;
};

/// Everything follows from an extended sequence: the state, then the inputs.
struct ShortConvReference {
  Doubles x, w, b, initial, dy, dFinal, y, last, dx, dw, db, dInitial;
  std::vector<int32_t> segments;

  explicit ShortConvReference(const ShortConvCase &c) {
    int64_t rows = c.batch * c.length, history = c.taps - 1;
    int64_t states = c.batch * history * c.channels;
    x = randomDoubles(rows * c.channels, 1), w = randomDoubles(c.channels * c.taps, 2);
    b = randomDoubles(c.channels, 3), initial = randomDoubles(states, 4);
    dy = randomDoubles(rows * c.channels, 5), dFinal = randomDoubles(states, 6);
    for (int64_t r = 0; r < rows; ++r)
      segments.push_back(static_cast<int32_t>((r % c.length + r / c.length) / 5 % 2));
    y.assign(x.size(), 0), dx = y, dw.assign(w.size(), 0), db.assign(b.size(), 0);
    last.assign(initial.size(), 0), dInitial = last;
    for (int64_t batch = 0; batch < c.batch; ++batch)
      for (int64_t ch = 0; ch < c.channels; ++ch) {
        auto channel = static_cast<size_t>(ch);
        auto row = [&](int64_t t) {
          return static_cast<size_t>((batch * c.length + t) * c.channels + ch);
        };
        auto old = [&](int64_t k) {
          return static_cast<size_t>((batch * history + k) * c.channels + ch);
        };
        auto value = [&](int64_t t) { return t < 0 ? initial[old(t + history)] : x[row(t)]; };
        auto gradient = [&](int64_t t) -> double & {
          return t < 0 ? dInitial[old(t + history)] : dx[row(t)];
        };
        auto id = [&](int64_t t) {
          return segments[static_cast<size_t>(batch * c.length + (t < 0 ? 0 : t))];
        };
        auto counts = [&](int64_t s, int64_t t) {
          return (s >= 0 || c.state) && (!c.segments || id(s) == id(t));
        };
        for (int64_t t = 0; t < c.length; ++t) {
          double sum = c.bias ? b[channel] : 0, slope = 1;
          for (int64_t j = 0; j < c.taps; ++j)
            if (int64_t s = t - history + j; counts(s, t))
              sum += w[static_cast<size_t>(ch * c.taps + j)] * value(s);
          if (c.silu) {
            double logistic = 1 / (1 + std::exp(-sum));
            slope = logistic * (1 + sum * (1 - logistic));
            sum *= logistic;
          }
          y[row(t)] = sum;
          double g = dy[row(t)] * slope;
          db[channel] += g;
          for (int64_t j = 0; j < c.taps; ++j)
            if (int64_t s = t - history + j; counts(s, t)) {
              dw[static_cast<size_t>(ch * c.taps + j)] += g * value(s);
              gradient(s) += g * w[static_cast<size_t>(ch * c.taps + j)];
            }
        }
        for (int64_t k = 0; c.finalState && k < history; ++k)
          if (int64_t t = c.length - history + k; counts(t, c.length - 1)) {
            last[old(k)] = value(t);
            gradient(t) += dFinal[old(k)];
          }
      }
  }
};

} // namespace hybrid::cpu::test
