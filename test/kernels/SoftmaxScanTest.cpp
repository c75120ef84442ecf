//===- SoftmaxScanTest.cpp - the softmax scan against dense softmax ---------===//
#include "codegen/kernels/SoftmaxScan.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/SoftmaxScan.cuh"
#endif

HYBRID_TEST_KERNEL(SoftmaxScanForward, softmax_scan_forward, softmaxScanForward)
HYBRID_TEST_KERNEL(SoftmaxScanBackward, softmax_scan_backward, softmaxScanBackward)
#ifdef HYBRID_CUDA_SHIM
HYBRID_TEST_KERNEL(SoftmaxScanSummary, , softmaxScanSummary)
HYBRID_TEST_KERNEL(SoftmaxScanEntries, , softmaxScanEntries)
HYBRID_TEST_KERNEL(SoftmaxScanGradientSummary, , softmaxScanGradientSummary)
HYBRID_TEST_KERNEL(SoftmaxScanGradientEntries, , softmaxScanGradientEntries)
#endif

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch = 2, length = 19, channels = 18, keys = 18, taps = 1;
  bool decay = true, segments = false, state = false, finalState = false;
  double keyScale = 1;
  int64_t blockRows = 0; // of a sequence divided over time, 0: all

  constexpr int64_t rows() const { return std::max<int64_t>(taps, 1); }
  constexpr int64_t width() const { return channels + keys; }
};

/// Every output is a softmax over a list of terms: the tokens before it, and the rows of the
/// initial state. Row i of the state is token i - S.
struct Reference {
  const Case c;
  Doubles k, v, taps, decay, initial, dy, dFinal;
  Doubles y, lse, last, dk, dv, dTaps, dDecay, dInitial;
  Doubles decaySizes; // the sum of the absolute values of what dDecay sums
  std::vector<int32_t> segments;

  explicit Reference(const Case &c) : c(c) {
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
    dTaps.assign(taps.size(), 0), dDecay.assign(decay.size(), 0), decaySizes = dDecay;
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
      double p = std::exp(logits[i] - *weight), g = weightCotangent ? p * *weightCotangent : 0,
             size = std::abs(g);
      for (int64_t d = 0; d < groupWidth(); ++d) {
        const double term = p * cotangent[d] * (list[i].values[d] - out[d]);
        g += term, size += std::abs(term);
        list[i].dValues[d] += p * cotangent[d];
      }
      *list[i].dLogit += g;
      if (lag(list[i]) < c.taps)
        dTaps[tapAt(list[i])] += g;
      else {
        dDecay[static_cast<size_t>(key)] += age(list[i]) * g;
        decaySizes[static_cast<size_t>(key)] += age(list[i]) * size;
      }
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

template <typename T> Doubles reduced(Tensor<T> &partial, int64_t count, int64_t columns) {
  Doubles sums(static_cast<size_t>(columns), 0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < columns; ++j)
      sums[static_cast<size_t>(j)] += static_cast<double>(partial.at(i, j));
  return sums;
}

template <typename T> constexpr SoftmaxScanParams paramsOf(const Case &c) {
  SoftmaxScanParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.keys = c.keys, p.taps = c.taps;
  p.hasDecay = c.decay, p.hasSegments = c.segments, p.hasState = c.state;
  p.hasFinalState = c.finalState;
  p.kStride = c.keys + 1, p.vStride = c.channels + 3, p.yStride = c.channels + 2;
  p.dvStride = c.channels + 4;
  p.blockRows = onCuda && c.blockRows ? c.blockRows : c.length;
  p.timeBlocks = ceilDiv(c.length, p.blockRows);
  p.dkStride = decided<SoftmaxScanKeyParts, T>(p) > 1 ? c.keys : c.keys + 5;
  return p;
}

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << "length " << c.length << " channels " << c.channels << " keys "
                                  << c.keys << " taps " << c.taps << " decay " << c.decay
                                  << " segments " << c.segments << " state " << c.state
                                  << c.finalState << " f" << 8 * sizeof(T));
  Reference r(c);
  constexpr auto params = [](const Case &c) { return paramsOf<T>(c); };
  const SoftmaxScanParams p = params(c);
  const int64_t rows = c.batch * c.length, states = c.batch * c.rows(),
                keyParts = decided<SoftmaxScanKeyParts, T>(p),
                parts = p.timeBlocks * keyParts * c.batch;
  Tensor<T> k(r.k, rows, c.keys, p.kStride), v(r.v, rows, c.channels, p.vStride),
      taps(r.taps, c.taps, c.keys), decays(r.decay, 1, c.keys),
      initial(r.initial, states, c.width());
  T *tapBiases = c.taps ? taps.data() : nullptr, *decay = c.decay ? decays.data() : nullptr,
    *state = c.state ? initial.data() : nullptr;
  int32_t *segments = c.segments ? r.segments.data() : nullptr;
  Tensor<T> y(rows, c.channels, p.yStride), lse(rows, c.keys), last(states, c.width());
  auto perBlock = [&](int64_t values) {
    return Tensor<T>(p.timeBlocks * values, c.batch * c.channels);
  };
  Tensor<T> entries = perBlock(softmaxScanTailValues),
            gradientEntries = perBlock(softmaxScanGradientValues);
  constexpr auto isDivided = [](const Case &c) { return paramsOf<T>(c).timeBlocks > 1; };
  if constexpr (onCuda)
    when(of, isDivided, [&](const auto &of) {
      Tensor<T> summaries = perBlock(softmaxScanTailValues + 1);
      launch<SoftmaxScanSummary, T>(of, params, {&summaries}, k.data(), v.data(), tapBiases, decay,
                                    segments, state, summaries.data());
      launch<SoftmaxScanEntries, T>(of, params, {&entries}, decay, state, summaries.data(),
                                    entries.data());
    });
  launch<SoftmaxScanForward, T>(of, params, {&y, &lse, &last}, k.data(), v.data(), tapBiases, decay,
                                segments, state, y.data(), lse.data(),
                                c.finalState ? last.data() : nullptr, entries.data());
  double bound = tolerance<T>(2e-6 * std::max(1.0, c.keyScale));
  EXPECT_LT(relativeError(y.values(), r.y), bound);
  EXPECT_LT(relativeError(lse.values(), r.lse), bound);
  if (c.finalState) {
    EXPECT_LT(relativeError(last.values(), r.last), bound);
    Doubles weights = last.values(), wanted = r.last; // without what is nothing
    for (size_t i = 0; i < weights.size(); ++i)
      if (wanted[i] == -1e30)
        weights[i] = wanted[i] = 0;
    EXPECT_LT(relativeError(weights, wanted), bound);
  }

  Tensor<T> output(r.y, rows, c.channels, p.yStride), dy(r.dy, rows, c.channels, p.yStride),
      denominators(r.lse, rows, c.keys), finals(r.last, states, c.width()),
      dFinals(r.dFinal, states, c.width());
  T *final = c.finalState ? finals.data() : nullptr,
    *dFinal = c.finalState ? dFinals.data() : nullptr;
  Tensor<T> dk(keyParts * rows, c.keys, p.dkStride), dv(rows, c.channels, p.dvStride),
      dInitial(states, c.width()), dTaps(parts, c.taps * c.keys), dDecay(parts, c.keys),
      dWeights(keyParts, states * c.keys);
  if constexpr (onCuda)
    when(of, isDivided, [&](const auto &of) {
      Tensor<T> summaries = perBlock(softmaxScanGradientValues + 1);
      launch<SoftmaxScanGradientSummary, T>(of, params, {&summaries}, decay, segments,
                                            output.data(), denominators.data(), dy.data(), final,
                                            dFinal, summaries.data());
      launch<SoftmaxScanGradientEntries, T>(of, params, {&gradientEntries}, decay, summaries.data(),
                                            gradientEntries.data());
    });
  launch<SoftmaxScanBackward, T>(
      of, params, {&dk, &dv, &dInitial, &dTaps, &dDecay, &dWeights}, k.data(), v.data(), tapBiases,
      decay, segments, state, output.data(), denominators.data(), dy.data(), final, dFinal,
      dk.data(), dv.data(), c.state ? dInitial.data() : nullptr, dTaps.data(), dDecay.data(),
      dWeights.data(), gradientEntries.data());
  bound *= 4;
  Doubles keyGradient(r.dk.size(), 0);
  for (int64_t part = 0; part < keyParts; ++part)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < c.keys; ++j)
        keyGradient[static_cast<size_t>(i * c.keys + j)] +=
            static_cast<double>(dk.at(part * rows + i, j));
  EXPECT_LT(relativeError(keyGradient, r.dk), bound);
  EXPECT_LT(relativeError(dv.values(), r.dv), bound);
  if (c.taps) {
    EXPECT_LT(relativeError(reduced(dTaps, parts, c.taps * c.keys), r.dTaps), bound);
  }
  if (c.decay) {
    // Its terms cancel, so that an error is measured by the sum of their absolute values.
    Doubles decayGradient = reduced(dDecay, parts, c.keys);
    for (size_t j = 0; j < decayGradient.size(); ++j)
      decayGradient[j] += r.decaySizes[j] - r.dDecay[j];
    EXPECT_LT(relativeError(decayGradient, r.decaySizes), bound / 4);
  }
  if (c.state) {
    Doubles weights = reduced(dWeights, keyParts, states * c.keys), gradient = dInitial.values();
    for (int64_t i = 0; i < states; ++i)
      for (int64_t j = 0; j < c.keys; ++j)
        gradient[static_cast<size_t>(i * c.width() + c.channels + j)] =
            weights[static_cast<size_t>(i * c.keys + j)];
    EXPECT_LT(relativeError(gradient, r.dInitial), bound);
  }
}

template <typename T> struct SoftmaxScan : testing::Test {
  template <const auto &cases> static void checkAll() {
    forEachCase<cases>([](const auto &of) { check<T>(of); });
  }
};
TYPED_TEST_SUITE(SoftmaxScan, Scalars);

constexpr Case shapes[] = {{.length = 1, .channels = 1, .keys = 1, .taps = 0},
                           {.length = 40, .channels = 33, .keys = 33, .taps = 1},
                           {.length = 5, .channels = 12, .keys = 3, .taps = 7},
                           {.length = 19, .channels = 80, .keys = 2, .taps = 2},
                           {.length = 16, .channels = 20, .keys = 1, .taps = 0}};
TYPED_TEST(SoftmaxScan, AgreesForEveryShape) {
  TestFixture::template checkAll<shapes>();
  if constexpr (!onCuda)
    for (int64_t length : {1, 2, 5, 40})
      for (int64_t taps : {0, 1, 2, 7})
        for (auto [channels, keys] : {std::pair(1, 1), std::pair(16, 16), std::pair(19, 19),
                                      std::pair(12, 3), std::pair(40, 2), std::pair(20, 1)})
          check<TypeParam>(
              Given{Case{.length = length, .channels = channels, .keys = keys, .taps = taps}});
}

constexpr Case states[] = {
    {.length = 13, .taps = 0, .segments = true, .state = true, .finalState = true},
    {.length = 13, .segments = true, .state = true, .finalState = true},
    {.length = 2, .taps = 4, .state = true, .finalState = true},
    {.length = 13, .taps = 4, .segments = true, .finalState = true},
    {.length = 13,
     .channels = 20,
     .keys = 1,
     .taps = 4,
     .decay = false,
     .segments = true,
     .state = true,
     .finalState = true}};
TYPED_TEST(SoftmaxScan, AgreesWithStatesAndSegments) {
  TestFixture::template checkAll<states>();
  if constexpr (!onCuda)
    for (int mask = 0; mask < 16; ++mask)
      for (int64_t length : {1, 2, 13})
        for (int64_t taps : {0, 1, 4})
          for (int64_t keys : {20, 1})
            check<TypeParam>(Given{Case{.length = length,
                                        .channels = 20,
                                        .keys = keys,
                                        .taps = taps,
                                        .decay = (mask & 1) != 0,
                                        .segments = (mask & 2) != 0,
                                        .state = (mask & 4) != 0,
                                        .finalState = (mask & 8) != 0}});
}

/// More taps than have their gradients in shared memory on CUDA.
constexpr Case manyTaps[] = {
    {.batch = 1, .length = 40, .channels = 33, .keys = 33, .taps = 400, .state = true},
    {.length = 400, .channels = 6, .keys = 2, .taps = 390, .segments = true},
    {.batch = 1, .length = 390, .channels = 3, .keys = 3, .taps = 388, .blockRows = 64}};
TYPED_TEST(SoftmaxScan, AgreesWithManyTaps) { TestFixture::template checkAll<manyTaps>(); }

constexpr Case divisions[] = {
    {.length = 40, .blockRows = 16},
    {.length = 37, .taps = 0, .segments = true, .state = true, .finalState = true, .blockRows = 8},
    {.length = 33, .taps = 1, .state = true, .finalState = true, .blockRows = 8},
    {.length = 40,
     .channels = 40,
     .keys = 1,
     .taps = 4,
     .segments = true,
     .state = true,
     .finalState = true,
     .blockRows = 8},
    {.length = 30, .taps = 11, .state = true, .finalState = true, .blockRows = 8}};
TYPED_TEST(SoftmaxScan, AgreesWhenDividedOverTime) { TestFixture::template checkAll<divisions>(); }

constexpr Case largeKeys[] = {{.taps = 0, .state = true, .finalState = true, .keyScale = 100},
                              {.taps = 1, .state = true, .finalState = true, .keyScale = 100},
                              {.taps = 3, .state = true, .finalState = true, .keyScale = 100},
                              {.state = true, .keyScale = 100, .blockRows = 8}};
TYPED_TEST(SoftmaxScan, StaysExactForLargeKeys) { TestFixture::template checkAll<largeKeys>(); }

// A state that holds nothing leaves no trace, not even in gradients.
constexpr Case emptyState[] = {{.batch = 1,
                                .length = 2,
                                .channels = 1,
                                .keys = 1,
                                .taps = 4,
                                .decay = false,
                                .state = true,
                                .finalState = true}};
TYPED_TEST(SoftmaxScan, EmptyStateIsNone) {
  using T = TypeParam;
  forEachCase<emptyState>([](const auto &of) {
    constexpr auto params = [](const Case &c) { return paramsOf<T>(c); };
    const SoftmaxScanParams p = params(of.value);
    const int64_t length = p.length, taps = p.taps;
    Tensor<T> k({1, 2}, length, 1, p.kStride), v({3, 5}, length, 1, p.vStride),
        u(Doubles(static_cast<size_t>(taps), 0), taps, 1);
    Doubles nothing;
    for (int64_t row = 0; row < taps; ++row)
      nothing.insert(nothing.end(), {0, -1e30});
    Tensor<T> state(nothing, taps, 2), y(length, 1, p.yStride), lse(length, 1), last(taps, 2);
    T *none = nullptr;
    int32_t *segments = nullptr;
    launch<SoftmaxScanForward, T>(of, params, {&y, &lse, &last}, k.data(), v.data(), u.data(), none,
                                  segments, state.data(), y.data(), lse.data(), last.data(), none);
    double weight = 1 / (1 + std::exp(1.0));
    EXPECT_LT(relativeError(y.values(), {3, 3 * weight + 5 * (1 - weight)}), tolerance<T>(1e-6));
    Tensor<T> dk(length, 1, p.dkStride), dv(length, 1, p.dvStride), dState(taps, 2), dTaps(taps, 1),
        dWeights(taps, 1);
    Tensor<T> dy({1, 1}, length, 1, p.yStride),
        dLast(Doubles(static_cast<size_t>(taps * 2), 1), taps, 2);
    launch<SoftmaxScanBackward, T>(
        of, params, {&dk, &dv, &dState, &dTaps, &dWeights}, k.data(), v.data(), u.data(), none,
        segments, state.data(), y.data(), lse.data(), dy.data(), last.data(), dLast.data(),
        dk.data(), dv.data(), dState.data(), dTaps.data(), none, dWeights.data(), none);
    for (Tensor<T> *tensor : {&dk, &dv, &dTaps, &dWeights})
      for (double value : tensor->values())
        EXPECT_TRUE(std::isfinite(value));
    for (int64_t row = 0; row < taps; ++row)
      EXPECT_TRUE(std::isfinite(static_cast<double>(dState.at(row, 0))));
  });
}

} // namespace
