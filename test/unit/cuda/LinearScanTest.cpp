//===- LinearScanTest.cpp - the linear scan's CUDA kernels ------------------===//
#include "codegen/kernels/cuda/LinearScan.cuh"
#include "KernelTest.h"
#include "test/unit/kernels/LinearScanReference.h"

using namespace hybrid;
using namespace hybrid::cuda;
using namespace hybrid::cuda::test;
using namespace hybrid::cpu::test;

namespace {

using Case = LinearScanCase; // blocks: of blockRows(), a multiple of 16

constexpr LinearScanParams shapeOf(const Case &c) {
  LinearScanParams p{};
  const int64_t keyWidth = c.heads * c.keys, valueWidth = c.heads * c.values;
  p.batch = c.batch, p.length = c.length, p.heads = c.heads, p.keySize = c.keys,
  p.valueSize = c.values;
  p.qStride = keyWidth + 1, p.kStride = keyWidth + 2, p.vStride = valueWidth + 3;
  p.oStride = valueWidth + 4, p.dqStride = keyWidth + 5, p.dkStride = keyWidth,
  p.dvStride = valueWidth + 1;
  const bool perTime = c.decay == ScanDecay::KeyAndTime || c.decay == ScanDecay::HeadAndTime;
  const int64_t decayWidth = c.decay == ScanDecay::KeyAndTime ? keyWidth : c.heads;
  p.decay = c.decay, p.decayStride = perTime ? decayWidth + 2 : 0;
  p.dDecayStride = c.decay == ScanDecay::KeyAndTime ? decayWidth + 1 : 0;
  p.exclusive = c.exclusive, p.hasSegments = c.segments, p.hasState = c.state;
  p.hasFinalState = c.finalState, p.scale = 0.75;
  p.decayGradient = c.decay != ScanDecay::None && c.decayGradient;
  p.blockRows = c.blocks == 1 ? c.length : ceilDiv(ceilDiv(c.length, c.blocks), 16) * 16;
  p.blocks = ceilDiv(c.length, p.blockRows);
  return p;
}
/// The scan of blocks that start from, and end with, states that have been found.
constexpr LinearScanParams divided(LinearScanParams p) {
  if (p.blocks > 1)
    p.hasState = p.hasFinalState = 1;
  return p;
}
constexpr LinearScanParams summaryOf(LinearScanParams p, bool reverse) {
  p.stateOnly = 1, p.hasState = reverse, p.hasFinalState = !reverse;
  return p;
}

template <typename T, Case c> void check() {
  SCOPED_TRACE(testing::Message() << "length " << c.length << " keys " << c.keys << " values "
                                  << c.values << " decay " << static_cast<int64_t>(c.decay)
                                  << " exclusive " << c.exclusive << " segments " << c.segments
                                  << " state " << c.state << c.finalState << " blocks " << c.blocks
                                  << " f" << 8 * sizeof(T));
  LinearScanReference r(c);
  constexpr LinearScanParams given = shapeOf(c), p = divided(given);
  constexpr int64_t rows = c.batch * c.length, keyWidth = c.heads * c.keys,
                    valueWidth = c.heads * c.values, states = c.batch * c.heads * c.keys,
                    blockStates = states * p.blocks;
  constexpr bool perTime = p.decayStride > 0;
  const int64_t decayRows = perTime ? rows : 1,
                decayWidth = LinearScanReference::decays(c) / decayRows;
  Tensor<T> q(r.q, rows, keyWidth, p.qStride), k(r.k, rows, keyWidth, p.kStride),
      v(r.v, rows, valueWidth, p.vStride), dO(r.dO, rows, valueWidth, p.oStride),
      g(r.g, decayRows, decayWidth, perTime ? p.decayStride : decayWidth),
      initial(r.initial, states, c.values), dFinal(r.dFinal, states, c.values);
  const int32_t *segments = r.segments.data();
  T *initialState = initial.data(), *finalCotangent = dFinal.data();
  auto launch = [&](const char *name, LinearScanPart part, auto body) {
    constexpr auto tilingOf = linearScanTilingOf<T>;
    const LinearScanTiling tiling = tilingOf(p, part);
    run(name, linearScanItems(p, part, tiling), tiling.threads(), linearScanBytes<T>(p, part),
        body);
  };

  Tensor<T> products(c.batch * p.blocks, keyWidth), offsets(blockStates, c.values),
      entries = offsets, ends = offsets, last(states, c.values), first = last, unused = offsets;
  if constexpr (p.blocks > 1) {
    constexpr LinearScanDivisionParams division{
        c.batch,       c.length, p.blocks,   p.blockRows, c.heads, c.keys, c.values,
        p.decayStride, p.decay,  c.segments, 0,           0,       0};
    run("linearScanProducts", c.batch * p.blocks * ceilDiv(keyWidth, linearScanColumnThreads),
        linearScanColumnThreads, 0, [&](int64_t item) {
          linearScanProducts<T, division>(item, g.data(), segments, products.data());
        });
    auto enter = [&]<bool has, bool hasLast, bool reverse>(T *state, Tensor<T> &to,
                                                           Tensor<T> &behind) {
      constexpr LinearScanDivisionParams d = [](LinearScanDivisionParams d) {
        d.hasState = has, d.hasLast = hasLast, d.reverse = reverse;
        return d;
      }(division);
      run("linearScanEntries", ceilDiv(states * c.values, linearScanEntriesThreads),
          linearScanEntriesThreads, 0, [&](int64_t item) {
            linearScanEntries<T, d>(item, products.data(), offsets.data(), segments, state,
                                    to.data(), behind.data());
          });
    };
    launch("linearScanForward", LinearScanPart::Forward, [&](int64_t item) {
      linearScanForward<T, summaryOf(given, false)>(item, q.data(), k.data(), v.data(), g.data(),
                                                    segments, nullptr, offsets.data(),
                                                    unused.data());
    });
    enter.template operator()<c.state, c.finalState, false>(initialState, entries, last);
    launch("linearScanBackwardValues", LinearScanPart::Values, [&](int64_t item) {
      linearScanBackwardValues<T, summaryOf(given, true)>(item, q.data(), k.data(), g.data(),
                                                          segments, dO.data(), nullptr,
                                                          offsets.data(), unused.data());
    });
    enter.template operator()<c.finalState, c.state, true>(finalCotangent, ends, first);
    EXPECT_TRUE(products.guardsIntact() && offsets.guardsIntact() && entries.guardsIntact() &&
                ends.guardsIntact() && last.guardsIntact() && first.guardsIntact());
    initialState = entries.data(), finalCotangent = ends.data();
  }

  constexpr auto keyTiling = linearScanTilingOf<T>(p, LinearScanPart::Keys);
  constexpr int64_t keyBlocks = linearScanColumnBlocks(p, LinearScanPart::Keys, keyTiling);
  const int64_t partials = c.decay == ScanDecay::HeadAndTime ? keyBlocks
                           : c.decay == ScanDecay::Key       ? c.batch * p.blocks
                           : c.decay == ScanDecay::Head      ? keyBlocks * c.batch * p.blocks
                                                             : 1;
  Tensor<T> o(rows, valueWidth, p.oStride), dq(rows, keyWidth, p.dqStride),
      dk(rows, keyWidth, p.dkStride), dv(rows, valueWidth, p.dvStride),
      dg = c.decay == ScanDecay::KeyAndTime ? Tensor<T>(rows, decayWidth, p.dDecayStride)
                                            : Tensor<T>(partials, decayRows * decayWidth),
      anchors(1, LinearScanAnchors::onCuda<T>(p));
  launch("linearScanForward", LinearScanPart::Forward, [&](int64_t item) {
    linearScanForward<T, p>(item, q.data(), k.data(), v.data(), g.data(), segments, initialState,
                            p.blocks > 1 ? unused.data() : last.data(), o.data());
  });
  launch("linearScanBackwardValues", LinearScanPart::Values, [&](int64_t item) {
    linearScanBackwardValues<T, p>(item, q.data(), k.data(), g.data(), segments, dO.data(),
                                   finalCotangent, p.blocks > 1 ? nullptr : first.data(),
                                   dv.data());
  });
  launch("linearScanBackwardQueries", LinearScanPart::Queries, [&](int64_t item) {
    linearScanBackwardQueries<T, p>(item, k.data(), v.data(), g.data(), segments, initialState,
                                    dO.data(), anchors.data(), dq.data());
  });
  launch("linearScanBackwardKeys", LinearScanPart::Keys, [&](int64_t item) {
    linearScanBackwardKeys<T, p>(item, q.data(), k.data(), v.data(), g.data(), segments, dO.data(),
                                 finalCotangent, dq.data(), anchors.data(), dg.data(), dk.data());
  });
  for (Tensor<T> *tensor : {&o, &last, &dq, &dk, &dv, &dg, &first, &unused, &anchors})
    EXPECT_TRUE(tensor->guardsIntact());

  double bound = tolerance<T>(4e-6);
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
    EXPECT_LT(relativeError(summed, r.dg), 4 * bound);
  }
}

template <typename T> struct LinearScan : testing::Test {};
TYPED_TEST_SUITE(LinearScan, Scalars);

TYPED_TEST(LinearScan, AgreesForEveryShape) {
  check<TypeParam, Case{.length = 1, .keys = 1, .values = 1, .decay = ScanDecay::None}>();
  check<TypeParam, Case{.length = 17, .keys = 8, .values = 35, .decay = ScanDecay::KeyAndTime}>();
  check<TypeParam, Case{.length = 50, .keys = 33, .values = 7, .decay = ScanDecay::HeadAndTime}>();
  check<TypeParam, Case{.length = 16, .keys = 17, .values = 16, .decay = ScanDecay::Key}>();
  check<TypeParam, Case{.length = 5, .keys = 8, .values = 1, .decay = ScanDecay::Head}>();
  check<TypeParam, Case{.batch = 1, .length = 20, .heads = 1, .keys = 128, .values = 64}>();
  check<TypeParam, Case{.batch = 1, .length = 600, .heads = 1, .finalState = true}>();
}
/// Many heads: large parts of the state in each thread.
TYPED_TEST(LinearScan, AgreesForLargePartsOfTheState) {
  check<TypeParam, Case{.batch = 2, .length = 19, .heads = 70, .keys = 64, .values = 64}>();
}
TYPED_TEST(LinearScan, AgreesWithStatesAndSegments) {
  check<TypeParam, Case{.length = 37, .segments = true, .state = true, .finalState = true}>();
  check<TypeParam, Case{.length = 37,
                        .decay = ScanDecay::HeadAndTime,
                        .exclusive = true,
                        .segments = true,
                        .state = true}>();
  check<TypeParam, Case{.length = 6,
                        .decay = ScanDecay::Key,
                        .exclusive = true,
                        .state = true,
                        .finalState = true}>();
  check<TypeParam,
        Case{.length = 20, .decay = ScanDecay::Head, .segments = true, .finalState = true}>();
  check<TypeParam, Case{.decay = ScanDecay::None, .exclusive = true, .segments = true}>();
  check<TypeParam, Case{.finalState = true, .decayGradient = false}>();
}
TYPED_TEST(LinearScan, AgreesWhenDividedOverTime) {
  check<TypeParam, Case{.length = 70, .state = true, .finalState = true, .blocks = 3}>();
  check<TypeParam, Case{.length = 64,
                        .decay = ScanDecay::HeadAndTime,
                        .exclusive = true,
                        .segments = true,
                        .blocks = 4}>();
  check<TypeParam, Case{.length = 64,
                        .decay = ScanDecay::Head,
                        .segments = true,
                        .state = true,
                        .finalState = true,
                        .blocks = 2}>();
  check<TypeParam, Case{.length = 33, .decay = ScanDecay::Key, .finalState = true, .blocks = 2}>();
  check<TypeParam, Case{.length = 40, .decay = ScanDecay::None, .state = true, .blocks = 3}>();
}
TYPED_TEST(LinearScan, AgreesForStrongDecays) {
  check<TypeParam, Case{.length = 40, .strength = 200}>();
}

TEST(LinearScanDivision, ForAnH200) {
  struct Division {
    int64_t batch, length, heads, size, blocks;
  };
  for (auto [batch, length, heads, size, blocks] :
       {Division{4, 2048, 16, 128, 1}, Division{128, 128, 8, 16, 1}, Division{1, 65536, 4, 64, 9},
        Division{1, 100, 1, 16, 1}}) {
    LinearScanParams p{};
    p.batch = batch, p.length = length, p.heads = heads, p.keySize = p.valueSize = size;
    p.decay = ScanDecay::KeyAndTime;
    hybrid::LinearScanDivision::onCuda<float>(p);
    EXPECT_EQ(p.blocks, blocks) << batch << " " << length;
    EXPECT_LT((p.blocks - 1) * p.blockRows, length);
    for (LinearScanPart part : {LinearScanPart::Forward, LinearScanPart::Keys}) {
      EXPECT_LE(linearScanBytes<float>(p, part), 99 * 1024);
    }
  }
}

} // namespace
