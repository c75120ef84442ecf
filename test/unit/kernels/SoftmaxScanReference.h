//===- SoftmaxScanReference.h - the softmax scan as a dense softmax ------===//
#pragma once
#include "KernelTest.h"

namespace hybrid::cpu::test {

struct SoftmaxScanCase {
  int64_t batch = 2, length = 19, channels = 18, keys = 18, taps = 1;
  bool decay = true, segments = false, state = false, finalState = false;
  double keyScale = 1;
  int64_t blockRows = 0; // of a sequence divided over time, 0: all

  constexpr int64_t rows() const { return std::max<int64_t>(taps, 1); }
  constexpr int64_t width() const { return channels + keys; }
};

/// Every output is a softmax over a list of terms: the tokens before it, and the rows of the
/// initial state. Row i of the state is token i - S.
struct SoftmaxScanReference {
  const SoftmaxScanCase c;
  Doubles k, v, taps, decay, initial, dy, dFinal;
  Doubles y, lse, last, dk, dv, dTaps, dDecay, dInitial;
  std::vector<int32_t> segments;

  explicit SoftmaxScanReference(const SoftmaxScanCase &c) : c(c) {
    int64_t positions = c.batch * c.length, states = c.batch * c.rows() * c.width();
    k = randomDoubles(positions * c.keys, 1, c.keyScale),
    v = randomDoubles(positions * c.channels, 2);
    taps = randomDoubles(c.taps * c.keys, 3), decay = randomDoubles(c.keys, 4, 0.5);
    for (double &value : decay)
      value = -std::abs(value);
    initial = randomDoubles(states, 5), dFinal = randomDoubles(states, 6);
    dy = randomDoubles(positions * c.channels, 7);
    for (int64_t r = 0; r < positions; ++r)
      segments.push_back(static_cast<int32_t>((r % c.length + r / c.length) / 5 % 2));
    y.assign(v.size(), 0), dv = y, lse.assign(k.size(), 0), dk = lse;
    last.assign(initial.size(), 0), dInitial = last;
    dTaps.assign(taps.size(), 0), dDecay.assign(decay.size(), 0);
    for (int64_t batch = 0; batch < c.batch; ++batch)
      for (int64_t key = 0; key < c.keys; ++key)
        scan(batch, key);
  }

  int64_t groupWidth() const { return c.channels / c.keys; }
  size_t state(int64_t batch, int64_t row, int64_t column) const {
    return static_cast<size_t>((batch * c.rows() + row) * c.width() + column);
  }
  size_t at(int64_t batch, int64_t t, int64_t columns, int64_t column) const {
    return static_cast<size_t>((batch * c.length + t) * columns + column);
  }

  /// A term: token s, or row s + S of the initial state for s < first.
  struct Term {
    double *logit, *dLogit;
    const double *values;
    double *dValues;
    int64_t token; // as whose age it counts
  };
  std::vector<Term> terms(int64_t batch, int64_t key, int64_t t) {
    std::vector<Term> list;
    int64_t start = std::min(t, c.length - 1);
    auto id = [&](int64_t s) { return segments[static_cast<size_t>(batch * c.length + s)]; };
    while (c.segments && start > 0 && id(start - 1) == id(start))
      --start;
    if (!c.segments)
      start = 0;
    int64_t channel = key * groupWidth();
    for (int64_t row = 0; c.state && start == 0 && row < c.rows(); ++row) {
      size_t values = state(batch, row, channel), weight = state(batch, row, c.channels + key);
      list.push_back(
          {&initial[weight], &dInitial[weight], &initial[values], &dInitial[values], row - c.taps});
    }
    for (int64_t s = start; s <= std::min(t, c.length - 1); ++s) {
      size_t values = at(batch, s, c.channels, channel), weight = at(batch, s, c.keys, key);
      list.push_back({&k[weight], &dk[weight], &v[values], &dv[values], s});
    }
    return list;
  }

  /// The softmax over terms as row t sees them, and its gradient for a cotangent of the average and
  /// of the log of the weight.
  void average(const std::vector<Term> &list, int64_t key, int64_t t, double *out, double *weight,
               const double *cotangent, const double *weightCotangent) {
    auto lag = [&](const Term &term) { return t - term.token; };
    auto age = [&](const Term &term) { return static_cast<double>(lag(term) - c.taps); };
    auto tapAt = [&](const Term &term) { return static_cast<size_t>(lag(term) * c.keys + key); };
    Doubles logits;
    double largest = -INFINITY, sum = 0;
    for (const Term &term : list) {
      double bias = lag(term) < c.taps
                        ? taps[tapAt(term)]
                        : (c.decay ? age(term) * decay[static_cast<size_t>(key)] : 0);
      logits.push_back(*term.logit + bias);
      largest = std::max(largest, logits.back());
    }
    for (double logit : logits)
      sum += std::exp(logit - largest);
    *weight = largest + std::log(sum);
    for (int64_t d = 0; d < groupWidth(); ++d) {
      out[d] = 0;
      for (size_t i = 0; i < list.size(); ++i)
        out[d] += std::exp(logits[i] - *weight) * list[i].values[d];
    }
    for (size_t i = 0; i < list.size(); ++i) {
      double p = std::exp(logits[i] - *weight), g = weightCotangent ? p * *weightCotangent : 0;
      for (int64_t d = 0; d < groupWidth(); ++d) {
        g += p * cotangent[d] * (list[i].values[d] - out[d]);
        list[i].dValues[d] += p * cotangent[d];
      }
      *list[i].dLogit += g;
      if (lag(list[i]) < c.taps)
        dTaps[tapAt(list[i])] += g;
      else
        dDecay[static_cast<size_t>(key)] += age(list[i]) * g;
    }
  }

  void scan(int64_t batch, int64_t key) {
    int64_t channel = key * groupWidth();
    for (int64_t t = 0; t < c.length; ++t)
      average(terms(batch, key, t), key, t, &y[at(batch, t, c.channels, channel)],
              &lse[at(batch, t, c.keys, key)], &dy[at(batch, t, c.channels, channel)], nullptr);
    if (!c.finalState)
      return;
    std::vector<Term> tail, recent(static_cast<size_t>(c.rows()));
    for (const Term &term : terms(batch, key, c.length))
      if (int64_t row = term.token - (c.length - c.taps); row <= 0 || c.taps == 0)
        tail.push_back(term);
      else
        recent[static_cast<size_t>(row)] = term;
    for (int64_t row = 0; row < c.rows(); ++row) {
      size_t values = state(batch, row, channel), weight = state(batch, row, c.channels + key);
      last[weight] = -1e30;
      if (row == 0 && !tail.empty())
        average(tail, key, c.length, &last[values], &last[weight], &dFinal[values],
                &dFinal[weight]);
      const Term &term = recent[static_cast<size_t>(row)];
      if (row == 0 || !term.logit)
        continue;
      last[weight] = *term.logit, *term.dLogit += dFinal[weight];
      for (int64_t d = 0; d < groupWidth(); ++d) {
        last[values + static_cast<size_t>(d)] = term.values[d];
        term.dValues[d] += dFinal[values + static_cast<size_t>(d)];
      }
    }
  }
};

} // namespace hybrid::cpu::test
