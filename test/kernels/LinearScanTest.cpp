//===- LinearScanTest.cpp - scan of an outer-product state, step by step ----===//
#include "codegen/kernels/LinearScan.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/LinearScan.cuh"
#endif

HYBRID_TEST_KERNEL(LinearScanForward, linear_scan_forward, linearScanForward)
HYBRID_TEST_KERNEL(LinearScanBackwardValues, linear_scan_backward_values, linearScanBackwardValues)
HYBRID_TEST_KERNEL(LinearScanProducts, linear_scan_products, linearScanProducts)
HYBRID_TEST_KERNEL(LinearScanEntries, linear_scan_entries, linearScanEntries)
#ifdef HYBRID_CUDA_SHIM
HYBRID_TEST_KERNEL(LinearScanBackwardQueries, , linearScanBackwardQueries)
HYBRID_TEST_KERNEL(LinearScanBackwardKeys, , linearScanBackwardKeys)
#else
HYBRID_TEST_KERNEL(LinearScanBackwardQueriesKeys, linear_scan_backward_queries_keys, )
HYBRID_TEST_KERNEL(LinearScanBackward, linear_scan_backward, )
#endif

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch = 2, length = 19, heads = 2, keys = 5, values = 6;
  ScanDecay decay = ScanDecay::KeyAndTime;
  bool exclusive = false, segments = false, state = false, finalState = false;
  bool decayGradient = true;
  double strength = 0.5; // decays are e^-strength or so
  int64_t blocks = 1;    // of a scan divided over time
};

size_t at(int64_t index) { return static_cast<size_t>(index); }

/// All states of all steps are kept; the gradient runs over them backwards.
struct Reference {
  Doubles q, k, v, g, initial, dO, dFinal;
  Doubles o, last, dq, dk, dv, dg, dInitial;
  std::vector<int32_t> segments;

  static int64_t decays(const Case &c) {
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
  static int64_t decayAt(const Case &c, int64_t b, int64_t t, int64_t h, int64_t key) {
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

  explicit Reference(const Case &c) {
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

  void runHead(const Case &c, int64_t b, int64_t h) {
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

constexpr bool decaysPerTime(const Case &c) {
  return c.decay == ScanDecay::KeyAndTime || c.decay == ScanDecay::HeadAndTime;
}
constexpr int64_t decayWidth(const Case &c) {
  return c.decay == ScanDecay::None                                      ? 1
         : c.decay == ScanDecay::KeyAndTime || c.decay == ScanDecay::Key ? c.heads * c.keys
                                                                         : c.heads;
}
constexpr LinearScanParams paramsOf(const Case &c) {
  LinearScanParams p{};
  const int64_t keyWidth = c.heads * c.keys, valueWidth = c.heads * c.values;
  p.batch = c.batch, p.length = c.length, p.heads = c.heads, p.keySize = c.keys,
  p.valueSize = c.values;
  p.qStride = keyWidth + 1, p.kStride = keyWidth + 2, p.vStride = valueWidth + 3;
  p.oStride = valueWidth + 4, p.dqStride = keyWidth + 5, p.dkStride = keyWidth,
  p.dvStride = valueWidth + 1;
  p.decay = c.decay, p.decayStride = decaysPerTime(c) ? decayWidth(c) + 2 : 0;
  p.dDecayStride = c.decay == ScanDecay::KeyAndTime ? decayWidth(c) + 1 : 0;
  p.exclusive = c.exclusive, p.hasSegments = c.segments, p.hasState = c.state;
  p.hasFinalState = c.finalState, p.scale = 0.75;
  p.decayGradient = c.decay != ScanDecay::None && c.decayGradient;
  if (onCuda) { // blocks of a multiple of 16 rows
    p.blockRows = c.blocks == 1 ? c.length : ceilDiv(ceilDiv(c.length, c.blocks), 16) * 16;
    p.blocks = ceilDiv(c.length, p.blockRows);
  } else { // equal blocks
    p.blocks = c.length % c.blocks == 0 ? c.blocks : 1, p.blockRows = c.length / p.blocks;
  }
  return p;
}
/// The scan of blocks that start from, and end with, states that have been found.
constexpr LinearScanParams dividedOf(const Case &c) {
  LinearScanParams p = paramsOf(c);
  if (p.blocks > 1)
    p.hasState = p.hasFinalState = 1;
  return p;
}
constexpr LinearScanParams summaryOf(const Case &c, bool reverse) {
  LinearScanParams p = paramsOf(c);
  p.stateOnly = 1, p.hasState = reverse, p.hasFinalState = !reverse;
  return p;
}
constexpr LinearScanDivisionParams divisionOf(const Case &c, bool hasState, bool hasLast,
                                              bool reverse) {
  const LinearScanParams p = paramsOf(c);
  return {c.batch,       c.length, p.blocks,   p.blockRows, c.heads, c.keys, c.values,
          p.decayStride, p.decay,  c.segments, hasState,    hasLast, reverse};
}

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << "length " << c.length << " keys " << c.keys << " values "
                                  << c.values << " decay " << static_cast<int64_t>(c.decay)
                                  << " exclusive " << c.exclusive << " segments " << c.segments
                                  << " state " << c.state << c.finalState << " blocks " << c.blocks
                                  << " f" << 8 * sizeof(T));
  Reference r(c);
  const LinearScanParams p = dividedOf(c);
  const int64_t rows = c.batch * c.length, keyWidth = c.heads * c.keys,
                valueWidth = c.heads * c.values, sequences = c.batch * p.blocks,
                states = c.batch * c.heads * c.keys, blockStates = states * p.blocks,
                decayRows = decaysPerTime(c) ? rows : 1, decays = decayWidth(c);
  Tensor<T> q(r.q, rows, keyWidth, p.qStride), k(r.k, rows, keyWidth, p.kStride),
      v(r.v, rows, valueWidth, p.vStride), dO(r.dO, rows, valueWidth, p.oStride),
      g(r.g, decayRows, decays, p.decayStride), initial(r.initial, states, c.values),
      dFinal(r.dFinal, states, c.values);
  auto given = [](bool is, auto &tensor) { return is ? tensor.data() : nullptr; };
  T *none = nullptr, *decay = given(c.decay != ScanDecay::None, g),
    *initialState = given(c.state, initial), *finalCotangent = given(c.finalState, dFinal);
  const int32_t *segments = given(c.segments, r.segments);

  // A divided scan, as the lowering prepares it.
  Tensor<T> products(sequences, keyWidth), offsets(blockStates, c.values),
      entries = offsets, ends = offsets, last(states, c.values), first = last,
      unused = offsets; // the final state of each block
  constexpr auto isDivided = [](const Case &c) { return paramsOf(c).blocks > 1; };
  when(of, isDivided, [&](const auto &of) {
    launch<LinearScanProducts, T>(
        of, [](const Case &c) { return divisionOf(c, false, false, false); }, {&products}, decay,
        segments, products.data());
    launch<LinearScanForward, T>(
        of, [](const Case &c) { return summaryOf(c, false); }, {&offsets}, q.data(), k.data(),
        v.data(), decay, segments, none, offsets.data(), none);
    launch<LinearScanEntries, T>(
        of, [](const Case &c) { return divisionOf(c, c.state, c.finalState, false); },
        {&entries, &last}, products.data(), offsets.data(), segments, initialState, entries.data(),
        given(c.finalState, last));
    launch<LinearScanBackwardValues, T>(
        of, [](const Case &c) { return summaryOf(c, true); }, {&offsets}, q.data(), k.data(), decay,
        segments, dO.data(), none, offsets.data(), none);
    launch<LinearScanEntries, T>(
        of, [](const Case &c) { return divisionOf(c, c.finalState, c.state, true); },
        {&ends, &first}, products.data(), offsets.data(), segments, finalCotangent, ends.data(),
        given(c.state, first));
    initialState = entries.data(), finalCotangent = ends.data();
  });

  // Partial sums of the gradient of the decay, added up below.
  const int64_t keyBlocks = decided<LinearScanKeyBlocks, T>(p),
                partials = c.decay == ScanDecay::HeadAndTime ? keyBlocks
                           : c.decay == ScanDecay::Key       ? sequences
                           : c.decay == ScanDecay::Head      ? keyBlocks * sequences
                                                             : 1;
  const bool divided = p.blocks > 1;
  Tensor<T> o(rows, valueWidth, p.oStride), dq(rows, keyWidth, p.dqStride),
      dk(rows, keyWidth, p.dkStride), dv(rows, valueWidth, p.dvStride),
      dg = c.decay == ScanDecay::KeyAndTime ? Tensor<T>(rows, decays, p.dDecayStride)
                                            : Tensor<T>(partials, decayRows * decays);
  constexpr auto params = [](const Case &c) { return dividedOf(c); };
  launch<LinearScanForward, T>(of, params, {&o, &last, &unused}, q.data(), k.data(), v.data(),
                               decay, segments, initialState,
                               divided ? unused.data() : given(c.finalState, last), o.data());
  T *decayGradient = given(p.decayGradient, dg), *dInitial = given(c.state && !divided, first);
  auto byRows = [&] {
    launch<LinearScanBackwardValues, T>(of, params, {&dv, &first}, q.data(), k.data(), decay,
                                        segments, dO.data(), finalCotangent, dInitial, dv.data());
  };
#ifdef HYBRID_CUDA_SHIM
  byRows();
  Tensor<T> anchors(1, LinearScanAnchors::onCuda<T>(p));
  launch<LinearScanBackwardQueries, T>(of, params, {&dq, &anchors}, k.data(), v.data(), decay,
                                       segments, initialState, dO.data(), anchors.data(),
                                       dq.data());
  launch<LinearScanBackwardKeys, T>(of, params, {&dk, &dg}, q.data(), k.data(), v.data(), decay,
                                    segments, dO.data(), finalCotangent, dq.data(), anchors.data(),
                                    decayGradient, dk.data());
#else
  if (decided<LinearScanGradientInChunks, T>(p)) {
    launch<LinearScanBackward, T>(of, params, {&dq, &dk, &dv, &dg, &first}, q.data(), k.data(),
                                  v.data(), decay, segments, initialState, dO.data(),
                                  finalCotangent, dInitial, dq.data(), dk.data(), dv.data(),
                                  decayGradient);
  } else {
    byRows();
    launch<LinearScanBackwardQueriesKeys, T>(of, params, {&dq, &dk, &dg}, q.data(), k.data(),
                                             v.data(), decay, segments, initialState, dO.data(),
                                             finalCotangent, dq.data(), dk.data(), decayGradient);
  }
#endif

  const double bound = tolerance<T>(onCuda ? 4e-6 : 3e-6);
  EXPECT_LT(relativeError(o.values(), r.o), bound);
  EXPECT_LT(relativeError(dq.values(), r.dq), bound);
  EXPECT_LT(relativeError(dk.values(), r.dk), bound);
  EXPECT_LT(relativeError(dv.values(), r.dv), bound);
  if (c.finalState) {
    EXPECT_LT(relativeError(last.values(), r.last), bound);
  }
  if (c.state) {
    EXPECT_LT(relativeError(first.values(), r.dInitial), bound);
  }
  if (p.decayGradient) {
    Doubles summed(r.dg.size(), 0), parts = dg.values();
    for (size_t i = 0; i < parts.size(); ++i)
      summed[i % summed.size()] += parts[i];
    // Sums over stretches of time of terms of either sign.
    EXPECT_LT(relativeError(summed, r.dg), onCuda || !decaysPerTime(c) ? 4 * bound : bound);
  }
}

constexpr ScanDecay kinds[] = {ScanDecay::None, ScanDecay::KeyAndTime, ScanDecay::HeadAndTime,
                               ScanDecay::Key, ScanDecay::Head};

/// A state row by row, one whose gradient goes chunk by chunk, and one that does so itself.
struct Size {
  int64_t keys, values;
};
constexpr Size sizes[] = {{5, 6}, {16, 17}, {33, 34}};

template <typename T> struct LinearScan : testing::Test {
  template <const auto &cases> static void checkAll() {
    forEachCase<cases>([](const auto &of) { check<T>(of); });
  }
};
TYPED_TEST_SUITE(LinearScan, Scalars);

constexpr Case shapes[] = {{.length = 1, .keys = 1, .values = 1, .decay = ScanDecay::None},
                           {.length = 17, .keys = 8, .values = 35, .decay = ScanDecay::KeyAndTime},
                           {.length = 50, .keys = 33, .values = 7, .decay = ScanDecay::HeadAndTime},
                           {.length = 16, .keys = 17, .values = 16, .decay = ScanDecay::Key},
                           {.length = 5, .keys = 8, .values = 1, .decay = ScanDecay::Head},
                           {.batch = 1, .length = 20, .heads = 1, .keys = 128, .values = 64},
                           {.batch = 1, .length = 600, .heads = 1, .finalState = true},
                           // Many heads: on CUDA large parts of the state in each thread.
                           {.batch = 2, .length = 19, .heads = 70, .keys = 64, .values = 64}};
TYPED_TEST(LinearScan, AgreesForEveryShape) {
  TestFixture::template checkAll<shapes>();
  if constexpr (!onCuda) {
    for (int64_t length : {1, 2, 3, 4, 5, 16, 17, 50})
      for (int64_t keys : {1, 8, 17, 33})
        for (int64_t values : {1, 7, 16, 35})
          for (ScanDecay kind : kinds)
            check<TypeParam>(
                Given{Case{.length = length, .keys = keys, .values = values, .decay = kind}});
    // More than 256 chunks of 16, so that chunks are longer.
    check<TypeParam>(Given{Case{.batch = 1, .length = 4200, .heads = 1, .keys = 3, .values = 4}});
  }
}

constexpr Case states[] = {
    {.length = 37, .segments = true, .state = true, .finalState = true},
    {.length = 37,
     .decay = ScanDecay::HeadAndTime,
     .exclusive = true,
     .segments = true,
     .state = true},
    {.length = 6, .decay = ScanDecay::Key, .exclusive = true, .state = true, .finalState = true},
    {.length = 20, .decay = ScanDecay::Head, .segments = true, .finalState = true},
    {.decay = ScanDecay::None, .exclusive = true, .segments = true},
    {.finalState = true, .decayGradient = false}};
TYPED_TEST(LinearScan, AgreesWithStatesAndSegments) {
  TestFixture::template checkAll<states>();
  if constexpr (!onCuda)
    for (int mask = 0; mask < 32; ++mask)
      for (ScanDecay kind : kinds)
        for (const Size &size : sizes)
          for (int64_t length : {1, 4, 6, 37})
            check<TypeParam>(Given{Case{.batch = 3,
                                        .length = length,
                                        .keys = size.keys,
                                        .values = size.values,
                                        .decay = kind,
                                        .exclusive = (mask & 1) != 0,
                                        .segments = (mask & 2) != 0,
                                        .state = (mask & 4) != 0,
                                        .finalState = (mask & 8) != 0,
                                        .decayGradient = (mask & 16) != 0}});
}

constexpr Case divisions[] = {
    {.length = 70, .state = true, .finalState = true, .blocks = 3},
    {.length = 64,
     .decay = ScanDecay::HeadAndTime,
     .exclusive = true,
     .segments = true,
     .blocks = 4},
    {.length = 64,
     .decay = ScanDecay::Head,
     .segments = true,
     .state = true,
     .finalState = true,
     .blocks = 2},
    {.length = 33, .decay = ScanDecay::Key, .finalState = true, .blocks = 2},
    {.length = 40, .decay = ScanDecay::None, .state = true, .blocks = 3}};
TYPED_TEST(LinearScan, AgreesWhenDividedOverTime) {
  TestFixture::template checkAll<divisions>();
  if constexpr (!onCuda)
    for (int mask = 0; mask < 16; ++mask)
      for (ScanDecay kind : kinds)
        for (const Size &size : sizes)
          check<TypeParam>(Given{Case{.length = 36,
                                      .keys = size.keys,
                                      .values = size.values,
                                      .decay = kind,
                                      .exclusive = (mask & 1) != 0,
                                      .segments = (mask & 2) != 0,
                                      .state = (mask & 4) != 0,
                                      .finalState = (mask & 8) != 0,
                                      .blocks = 4}});
}

constexpr Case strong[] = {{.length = 40, .strength = 200}};
TYPED_TEST(LinearScan, StrongDecaysNeitherOverflowNorLoseTheGradient) {
  TestFixture::template checkAll<strong>();
  if constexpr (!onCuda)
    for (double strength : {30.0, 200.0, 1e4})
      for (ScanDecay kind : kinds)
        for (const Size &size : sizes)
          check<TypeParam>(Given{Case{.length = 40,
                                      .keys = size.keys,
                                      .values = size.values,
                                      .decay = kind,
                                      .state = true,
                                      .finalState = true,
                                      .strength = strength}});
}

struct Division {
  int64_t batch, length, heads, keySize, valueSize, blocks;
};
constexpr Division ofAnH200[] = {{4, 2048, 16, 128, 128, 1},
                                 {128, 128, 8, 16, 16, 1},
                                 {1, 65536, 4, 64, 64, 9},
                                 {1, 100, 1, 16, 16, 1}};
// Only where there are few items.
constexpr Division ofACpu[] = {{1, 65536, 8, 0, 16, 1}, {1, 65536, 1, 0, 16, 32},
                               {1, 65536, 2, 0, 32, 8}, {1, 1536, 1, 0, 16, 4},
                               {1, 1001, 1, 0, 16, 1},  {1, 1, 1, 0, 16, 1}};
TEST(LinearScanDivision, FollowsTheSizes) {
  for (const Division &d : onCuda ? std::span<const Division>(ofAnH200) : ofACpu) {
    LinearScanParams p{};
    p.batch = d.batch, p.length = d.length, p.heads = d.heads, p.keySize = d.keySize;
    p.valueSize = d.valueSize, p.decay = ScanDecay::KeyAndTime;
    decided<hybrid::LinearScanDivision, float>(p);
    EXPECT_EQ(p.blocks, d.blocks) << d.batch << " " << d.length;
    EXPECT_LT((p.blocks - 1) * p.blockRows, d.length);
#ifdef HYBRID_CUDA_SHIM
    for (cuda::LinearScanPart part : {cuda::LinearScanPart::Forward, cuda::LinearScanPart::Keys}) {
      EXPECT_LE(cuda::linearScanBytes<float>(p, part), 99 * 1024);
    }
#endif
  }
}

} // namespace
