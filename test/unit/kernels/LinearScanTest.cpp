//===- LinearScanTest.cpp - scan of an outer-product state, step by step --===//
#include "LinearScanReference.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

HYBRID_DECLARE_KERNEL(linear_scan_forward, LinearScanParams)
HYBRID_DECLARE_KERNEL(linear_scan_backward_values, LinearScanParams)
HYBRID_DECLARE_KERNEL(linear_scan_backward_queries_keys, LinearScanParams)
HYBRID_DECLARE_KERNEL(linear_scan_products, LinearScanDivisionParams)
HYBRID_DECLARE_KERNEL(linear_scan_entries, LinearScanDivisionParams)

namespace {

using Case = LinearScanCase;
using Reference = LinearScanReference;

template <typename T> struct Results {
  Tensor<T> o, last, dq, dk, dv, dg, dInitial;

  bool sameBits(const Results &other) const {
    return o.sameBits(other.o) && last.sameBits(other.last) && dq.sameBits(other.dq) &&
           dk.sameBits(other.dk) && dv.sameBits(other.dv) && dg.sameBits(other.dg) &&
           dInitial.sameBits(other.dInitial);
  }
  bool guardsIntact() {
    return o.guardsIntact() && last.guardsIntact() && dq.guardsIntact() && dk.guardsIntact() &&
           dv.guardsIntact() && dg.guardsIntact() && dInitial.guardsIntact();
  }
};

template <typename T> void check(const Case &c) {
  SCOPED_TRACE(testing::Message() << "length " << c.length << " keys " << c.keys << " values "
                                  << c.values << " decay " << static_cast<int64_t>(c.decay)
                                  << " exclusive " << c.exclusive << " segments " << c.segments
                                  << " state " << c.state << c.finalState << " blocks "
                                  << c.blocks);
  Reference r(c);
  int64_t rows = c.batch * c.length, keyWidth = c.heads * c.keys, valueWidth = c.heads * c.values;
  LinearScanParams p{};
  p.batch = c.batch, p.length = c.length, p.heads = c.heads, p.keySize = c.keys,
  p.valueSize = c.values;
  p.qStride = keyWidth + 1, p.kStride = keyWidth + 2, p.vStride = valueWidth + 3;
  p.oStride = valueWidth + 4, p.dqStride = keyWidth + 5, p.dkStride = keyWidth,
  p.dvStride = valueWidth + 1;
  p.decay = c.decay, p.exclusive = c.exclusive, p.hasSegments = c.segments, p.hasState = c.state;
  p.hasFinalState = c.finalState, p.scale = 0.75;
  p.blocks = c.blocks, p.blockRows = c.length / c.blocks;
  p.decayGradient = c.decay != ScanDecay::None && c.decayGradient;
  int64_t keyBlocks = ceilDiv(c.keys, lanes<T>), sequences = c.batch * c.blocks;
  int64_t states = c.batch * c.heads * c.keys;

  bool perTime = c.decay == ScanDecay::KeyAndTime || c.decay == ScanDecay::HeadAndTime;
  int64_t decayRows = perTime ? rows : 1;
  int64_t decayWidth = Reference::decays(c) / decayRows;
  p.decayStride = decayWidth + (perTime ? 2 : 0), p.dDecayStride = decayWidth + 1;
  Tensor<T> q(r.q, rows, keyWidth, p.qStride), k(r.k, rows, keyWidth, p.kStride),
      v(r.v, rows, valueWidth, p.vStride), dO(r.dO, rows, valueWidth, p.oStride),
      g(r.g, decayRows, decayWidth, p.decayStride), initial(r.initial, states, c.values),
      dFinal(r.dFinal, states, c.values);
  void *decay = c.decay == ScanDecay::None ? nullptr : g.data();
  void *segments = c.segments ? r.segments.data() : nullptr;
  void *initialState = c.state ? initial.data() : nullptr;
  void *finalCotangent = c.finalState ? dFinal.data() : nullptr;

  // A divided scan, as the lowering prepares it.
  const int64_t blockStates = states * c.blocks;
  Tensor<T> products(sequences, keyWidth), offsets(blockStates, c.values),
      entries = offsets, ends = offsets, last(states, c.values), first = last;
  Tensor<T> unused = offsets; // the final state of each block
  if (c.blocks > 1) {
    LinearScanDivisionParams d{c.batch,  c.length,      c.blocks, p.blockRows, c.heads, c.keys,
                               c.values, p.decayStride, p.decay,  c.segments,  0,       0,
                               0};
    callInPieces(linear_scan_products<T>, itemsOf<LinearScanProducts, T>(d),
                 {decay, segments, products.data()}, d, 0);
    LinearScanParams summary = p;
    summary.stateOnly = 1;
    auto enter = [&](void *state, Tensor<T> &to, Tensor<T> *behind, bool reverse) {
      d.hasState = state != nullptr, d.hasLast = behind != nullptr, d.reverse = reverse;
      callInPieces(linear_scan_entries<T>, states,
                   {products.data(), offsets.data(), segments, state, to.data(),
                    behind ? behind->data() : nullptr},
                   d, 0);
    };
    const int64_t grid = itemsOf<LinearScanForward, T>(p);
    summary.hasState = 0, summary.hasFinalState = 1;
    callInPieces(linear_scan_forward<T>, grid,
                 {q.data(), k.data(), v.data(), decay, segments, nullptr, offsets.data(), nullptr},
                 summary, scratchOf<LinearScanForward, T>(p));
    enter(initialState, entries, c.finalState ? &last : nullptr, false);
    summary.hasState = 1, summary.hasFinalState = 0;
    callInPieces(linear_scan_backward_values<T>, grid,
                 {q.data(), k.data(), decay, segments, dO.data(), nullptr, offsets.data(), nullptr},
                 summary, scratchOf<LinearScanForward, T>(p));
    enter(finalCotangent, ends, c.state ? &first : nullptr, true);
    EXPECT_TRUE(products.guardsIntact() && offsets.guardsIntact() && entries.guardsIntact() &&
                ends.guardsIntact() && last.guardsIntact() && first.guardsIntact());
    initialState = entries.data(), finalCotangent = ends.data(), p.hasState = p.hasFinalState = 1;
  }

  // Partial sums of the gradient of the decay, added up below.
  int64_t partials = c.decay == ScanDecay::HeadAndTime ? keyBlocks
                     : c.decay == ScanDecay::Key       ? sequences
                     : c.decay == ScanDecay::Head      ? keyBlocks * sequences
                                                       : 1;
  Tensor<T> dg = c.decay == ScanDecay::KeyAndTime ? Tensor<T>(rows, decayWidth, p.dDecayStride)
                                                  : Tensor<T>(partials, decayRows * decayWidth);
  Results<T> whole{Tensor<T>(rows, valueWidth, p.oStride),
                   last,
                   Tensor<T>(rows, keyWidth, p.dqStride),
                   Tensor<T>(rows, keyWidth, p.dkStride),
                   Tensor<T>(rows, valueWidth, p.dvStride),
                   dg,
                   first};
  Results<T> pieces = whole;
  auto run = [&](Results<T> &to, auto call) {
    call(linear_scan_forward<T>, itemsOf<LinearScanForward, T>(p),
         std::vector<void *>{q.data(), k.data(), v.data(), decay, segments, initialState,
                             c.blocks > 1   ? unused.data()
                             : c.finalState ? to.last.data()
                                            : nullptr,
                             to.o.data()},
         scratchOf<LinearScanForward, T>(p));
    call(linear_scan_backward_values<T>, itemsOf<LinearScanBackwardValues, T>(p),
         std::vector<void *>{q.data(), k.data(), decay, segments, dO.data(), finalCotangent,
                             c.state && c.blocks == 1 ? to.dInitial.data() : nullptr, to.dv.data()},
         scratchOf<LinearScanForward, T>(p));
    call(linear_scan_backward_queries_keys<T>, itemsOf<LinearScanBackwardQueriesKeys, T>(p),
         std::vector<void *>{q.data(), k.data(), v.data(), decay, segments, initialState, dO.data(),
                             finalCotangent, to.dq.data(), to.dk.data(),
                             p.decayGradient ? to.dg.data() : nullptr},
         scratchOf<LinearScanBackwardQueriesKeys, T>(p));
  };
  run(whole, [&](auto *kernel, int64_t grid, const std::vector<void *> &buffers, int64_t scratch) {
    callWhole(kernel, grid, buffers, p, scratch);
  });
  run(pieces, [&](auto *kernel, int64_t grid, const std::vector<void *> &buffers, int64_t scratch) {
    callInPieces(kernel, grid, buffers, p, scratch);
  });
  EXPECT_TRUE(whole.sameBits(pieces));
  EXPECT_TRUE(whole.guardsIntact());

  double bound = tolerance<T>(3e-6);
  EXPECT_LT(relativeError(whole.o.values(), r.o), bound);
  EXPECT_LT(relativeError(whole.dq.values(), r.dq), bound);
  EXPECT_LT(relativeError(whole.dk.values(), r.dk), bound);
  EXPECT_LT(relativeError(whole.dv.values(), r.dv), bound);
  if (c.finalState) {
    EXPECT_LT(relativeError(whole.last.values(), r.last), bound);
  }
  if (c.state) {
    EXPECT_LT(relativeError(whole.dInitial.values(), r.dInitial), bound);
  }
  if (p.decayGradient) {
    Doubles summed(r.dg.size(), 0), parts = whole.dg.values();
    for (size_t i = 0; i < parts.size(); ++i)
      summed[i % summed.size()] += parts[i];
    // A constant decay sums terms of either sign over all times.
    EXPECT_LT(relativeError(summed, r.dg), perTime ? bound : 4 * bound);
  }
}

constexpr ScanDecay kinds[] = {ScanDecay::None, ScanDecay::KeyAndTime, ScanDecay::HeadAndTime,
                               ScanDecay::Key, ScanDecay::Head};

template <typename T> struct LinearScan : testing::Test {};
TYPED_TEST_SUITE(LinearScan, Scalars);

TYPED_TEST(LinearScan, AgreesForEveryShape) {
  for (int64_t length : {1, 2, 3, 4, 5, 16, 17, 50})
    for (int64_t keys : {1, 8, 17, 33})
      for (int64_t values : {1, 7, 16, 35})
        for (ScanDecay kind : kinds)
          check<TypeParam>({.length = length, .keys = keys, .values = values, .decay = kind});
}
TYPED_TEST(LinearScan, AgreesWithStatesAndSegments) {
  for (int mask = 0; mask < 32; ++mask)
    for (ScanDecay kind : kinds)
      for (int64_t length : {1, 6, 37})
        check<TypeParam>({.length = length,
                          .decay = kind,
                          .exclusive = (mask & 1) != 0,
                          .segments = (mask & 2) != 0,
                          .state = (mask & 4) != 0,
                          .finalState = (mask & 8) != 0,
                          .decayGradient = (mask & 16) != 0});
}
TYPED_TEST(LinearScan, AgreesWhenDividedOverTime) {
  for (int mask = 0; mask < 16; ++mask)
    for (ScanDecay kind : kinds)
      for (int64_t keys : {5, 16})
        check<TypeParam>({.length = 36,
                          .keys = keys,
                          .decay = kind,
                          .exclusive = (mask & 1) != 0,
                          .segments = (mask & 2) != 0,
                          .state = (mask & 4) != 0,
                          .finalState = (mask & 8) != 0,
                          .blocks = 4});
}
TEST(LinearScanDivision, OnlyWhereThereAreFewItems) {
  LinearScanParams p{};
  p.batch = 1;
  struct Division {
    int64_t heads, valueSize, length, blocks;
  };
  for (auto [heads, valueSize, length, blocks] :
       {Division{8, 16, 65536, 1}, Division{1, 16, 65536, 32}, Division{2, 32, 65536, 8},
        Division{1, 16, 1536, 4}, Division{1, 16, 1001, 1}, Division{1, 16, 1, 1}}) {
    p.heads = heads, p.valueSize = valueSize, p.length = length;
    hybrid::LinearScanDivision::onCpu<float>(p);
    EXPECT_EQ(p.blocks, blocks) << heads << " " << valueSize << " " << length;
  }
}
TYPED_TEST(LinearScan, AgreesForLongSequences) {
  // More than 256 chunks of 16, so that chunks are longer.
  check<TypeParam>({.batch = 1, .length = 4200, .heads = 1, .keys = 3, .values = 4});
}
TYPED_TEST(LinearScan, StrongDecaysNeitherOverflowNorLoseTheGradient) {
  for (double strength : {30.0, 200.0, 1e4})
    for (ScanDecay kind : kinds)
      check<TypeParam>(
          {.length = 40, .decay = kind, .state = true, .finalState = true, .strength = strength});
}

} // namespace
