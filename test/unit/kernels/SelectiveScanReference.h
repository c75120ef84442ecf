//===- SelectiveScanReference.h - the selective scan, step by step -------===//
#pragma once
#include "KernelTest.h"

namespace hybrid::cpu::test {

struct SelectiveScanCase {
  int64_t batch = 2, length = 37, channels = 18, states = 4, groups = 1;
  bool constantB = false, constantC = false, segments = false, state = false, finalState = false;
  bool stepBias = false, softplus = false, skip = false, gate = false;
  int64_t blocksPerItem = 1, blockRows = 0 /* all */;
};

struct SelectiveScanReference {
  Doubles x, raw, a, b, c, initial, stepBias, skip, z, cotangent, dFinal;
  Doubles y, last, dx, ddt, da, db, dc, dInitial, dStepBias, dSkip, dGate;
  Doubles dt, dy; // the step, and the gradient before the gate
  std::vector<int32_t> segments;

  explicit SelectiveScanReference(const SelectiveScanCase &p) {
    int64_t rows = p.batch * p.length, states = p.batch * p.channels * p.states;
    auto mapSize = [&](bool constant) {
      return constant ? p.channels * p.states : rows * p.groups * p.states;
    };
    x = randomDoubles(rows * p.channels, 1), raw = randomDoubles(rows * p.channels, 2, 0.3);
    a = randomDoubles(p.channels * p.states, 3), initial = randomDoubles(states, 6);
    if (!p.softplus)
      for (double &value : raw)
        value = std::abs(value);
    stepBias = randomDoubles(p.channels, 9, 0.3), skip = randomDoubles(p.channels, 10);
    for (double &value : stepBias)
      value = std::abs(value);
    z = randomDoubles(rows * p.channels, 11, 2);
    for (double &value : a)
      value = -std::abs(value) * 3;
    b = randomDoubles(mapSize(p.constantB), 4), c = randomDoubles(mapSize(p.constantC), 5);
    cotangent = randomDoubles(rows * p.channels, 7), dFinal = randomDoubles(states, 8);
    for (int64_t r = 0; r < rows; ++r)
      segments.push_back(static_cast<int32_t>((r % p.length + r / p.length) / 7));
    y.assign(x.size(), 0), dx = y, ddt = y, da.assign(a.size(), 0);
    db.assign(b.size(), 0), dc.assign(c.size(), 0);
    last.assign(initial.size(), 0), dInitial = last;
    dStepBias.assign(stepBias.size(), 0), dSkip = dStepBias, dGate = y;
    dt = raw, dy = cotangent;
    for (size_t i = 0; i < x.size(); ++i) {
      if (p.stepBias)
        dt[i] += stepBias[i % skip.size()];
      if (p.softplus)
        dt[i] = std::log1p(std::exp(dt[i]));
      if (p.gate)
        dy[i] *= z[i] * logistic(z[i]);
    }
    for (int64_t batch = 0; batch < p.batch; ++batch)
      for (int64_t channel = 0; channel < p.channels; ++channel)
        for (int64_t n = 0; n < p.states; ++n)
          scan(p, batch, channel, n);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t channel = i % skip.size();
      if (p.skip) {
        y[i] += skip[channel] * x[i];
        dx[i] += skip[channel] * dy[i], dSkip[channel] += x[i] * dy[i];
      }
      if (p.gate) {
        double s = logistic(z[i]);
        dGate[i] = cotangent[i] * y[i] * s * (1 + z[i] * (1 - s));
        y[i] *= z[i] * s;
      }
      if (p.softplus) // σ(v) of softplus(v)
        ddt[i] *= -std::expm1(-dt[i]);
      dStepBias[channel] += ddt[i];
    }
  }

  static double logistic(double v) { return 1 / (1 + std::exp(-v)); }

  void scan(const SelectiveScanCase &p, int64_t batch, int64_t channel, int64_t n) {
    auto row = [&](int64_t t) {
      return static_cast<size_t>((batch * p.length + t) * p.channels + channel);
    };
    auto mapAt = [&](int64_t t, bool constant) {
      int64_t group = channel / (p.channels / p.groups);
      return static_cast<size_t>(constant ? channel * p.states + n
                                          : (batch * p.length + t) * p.groups * p.states +
                                                group * p.states + n);
    };
    auto state = static_cast<size_t>((batch * p.channels + channel) * p.states + n);
    double rate = a[static_cast<size_t>(channel * p.states + n)];
    auto starts = [&](int64_t t) {
      return p.segments && t > 0 &&
             segments[static_cast<size_t>(batch * p.length + t)] !=
                 segments[static_cast<size_t>(batch * p.length + t - 1)];
    };
    Doubles before(static_cast<size_t>(p.length)), after = before;
    double h = p.state ? initial[state] : 0;
    for (int64_t t = 0; t < p.length; ++t) {
      before[static_cast<size_t>(t)] = h = starts(t) ? 0 : h;
      h = std::exp(dt[row(t)] * rate) * h + dt[row(t)] * x[row(t)] * b[mapAt(t, p.constantB)];
      after[static_cast<size_t>(t)] = h;
      y[row(t)] += c[mapAt(t, p.constantC)] * h;
    }
    last[state] = h;
    double gradient = p.finalState ? dFinal[state] : 0;
    for (int64_t t = p.length - 1; t >= 0; --t) {
      size_t b0 = mapAt(t, p.constantB), c0 = mapAt(t, p.constantC), r = row(t);
      double decay = std::exp(dt[r] * rate), old = before[static_cast<size_t>(t)];
      gradient += c[c0] * dy[r];
      dc[c0] += dy[r] * after[static_cast<size_t>(t)];
      db[b0] += gradient * dt[r] * x[r];
      dx[r] += gradient * b[b0] * dt[r];
      ddt[r] += gradient * (b[b0] * x[r] + old * decay * rate);
      da[static_cast<size_t>(channel * p.states + n)] += gradient * old * decay * dt[r];
      gradient = starts(t) ? 0 : gradient * decay;
    }
    dInitial[state] = gradient;
  }
};

} // namespace hybrid::cpu::test
