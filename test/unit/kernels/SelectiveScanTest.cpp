//===- SelectiveScanTest.cpp - the selective scan, step by step -----------===//
#include "codegen/kernels/SelectiveScan.h"
#include "SelectiveScanReference.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

HYBRID_DECLARE_KERNEL(selective_scan_forward, SelectiveScanParams)
HYBRID_DECLARE_KERNEL(selective_scan_backward, SelectiveScanParams)
HYBRID_DECLARE_KERNEL(selective_scan_summary, SelectiveScanParams)
HYBRID_DECLARE_KERNEL(selective_scan_entries, SelectiveScanEntriesParams)

namespace {

using Case = SelectiveScanCase;
using Reference = SelectiveScanReference;

/// Sums over the first dimension; transposed: [states, channels] to [channels, states].
template <typename T>
Doubles reduced(Tensor<T> &partial, int64_t count, int64_t columns, const Case &c,
                bool transposed) {
  Doubles sums(static_cast<size_t>(columns), 0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      int64_t to = transposed ? j % c.channels * c.states + j / c.channels : j;
      sums[static_cast<size_t>(to)] += static_cast<double>(partial.at(i, j));
    }
  return sums;
}

template <typename T> void check(const Case &c) {
  SCOPED_TRACE(testing::Message() << "length " << c.length << " channels " << c.channels
                                  << " states " << c.states << " groups " << c.groups
                                  << " constant " << c.constantB << c.constantC << " segments "
                                  << c.segments << " state " << c.state << c.finalState
                                  << " around " << c.stepBias << c.softplus << c.skip << c.gate
                                  << " blocks " << c.blocksPerItem << " block rows "
                                  << c.blockRows);
  Reference r(c);
  SelectiveScanParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.states = c.states;
  p.groups = c.groups, p.constantB = c.constantB, p.constantC = c.constantC;
  p.hasSegments = c.segments, p.hasState = c.state, p.hasFinalState = c.finalState;
  p.stateGradient = c.state;
  p.hasStepBias = c.stepBias, p.softplusStep = c.softplus, p.hasSkip = c.skip, p.hasGate = c.gate;
  p.blocksPerItem = c.blocksPerItem;
  p.blockRows = c.blockRows ? c.blockRows : c.length, p.timeBlocks = ceilDiv(c.length, p.blockRows);
  int64_t rows = c.batch * c.length, width = c.groups * c.states, stateRows = c.batch * c.channels;
  p.xStride = c.channels + 3, p.dtStride = c.channels + 1, p.yStride = c.channels + 2;
  p.dxStride = c.channels + 4, p.ddtStride = c.channels + 5;
  p.gateStride = c.channels + 6, p.dGateStride = c.channels + 7;
  p.bStride = width + 2, p.cStride = width + 1;
  Tensor<T> x(r.x, rows, c.channels, p.xStride), raw(r.raw, rows, c.channels, p.dtStride);
  Tensor<T> a(r.a, c.channels, c.states), initial(r.initial, stateRows, c.states);
  Tensor<T> stepBias(r.stepBias, 1, c.channels), skip(r.skip, 1, c.channels),
      gate(r.z, rows, c.channels, p.gateStride);
  auto map = [&](const Doubles &values, bool constant, int64_t stride) {
    return constant ? Tensor<T>(values, c.channels, c.states)
                    : Tensor<T>(values, rows, width, stride);
  };
  Tensor<T> b = map(r.b, c.constantB, p.bStride), maps = map(r.c, c.constantC, p.cStride);
  void *segments = c.segments ? r.segments.data() : nullptr;
  void *state = c.state ? initial.data() : nullptr;
  Tensor<T> y(rows, c.channels, p.yStride), y2 = y, last(stateRows, c.states), last2 = last;
  std::vector<void *> common{x.data(),
                             raw.data(),
                             a.data(),
                             b.data(),
                             maps.data(),
                             segments,
                             state,
                             c.stepBias ? stepBias.data() : nullptr,
                             c.skip ? skip.data() : nullptr,
                             c.gate ? gate.data() : nullptr};
  auto withCommon = [&](std::initializer_list<void *> own) {
    std::vector<void *> buffers = common;
    buffers.insert(buffers.end(), own);
    return buffers;
  };
  auto forward = [&](Tensor<T> &out, Tensor<T> &final) {
    return withCommon({c.finalState ? final.data() : nullptr, out.data()});
  };
  int64_t grid = c.batch * selectiveScanItems<T>(p) * p.timeBlocks;
  // What the blocks of rows start from, as the lowering prepares it.
  Tensor<T> decay(p.timeBlocks * stateRows, c.states), offset = decay, carry = decay,
                                                       entries = decay, ends = decay;
  auto entriesOf = [&](Tensor<T> &from, void *first, Tensor<T> &to, bool reverse) {
    SelectiveScanEntriesParams e{stateRows * c.states, p.timeBlocks, first != nullptr, reverse};
    callInPieces(selective_scan_entries<T>, ceilDiv(e.elements, lanes<T>),
                 {decay.data(), from.data(), first, to.data()}, e, 0);
    EXPECT_TRUE(to.guardsIntact());
  };
  auto summarise = [&](void *cotangent) {
    SelectiveScanParams summary = p;
    summary.hasState = 0, summary.summariseGradient = cotangent != nullptr;
    std::vector<void *> buffers =
        withCommon({cotangent, decay.data(), offset.data(), cotangent ? carry.data() : nullptr});
    buffers[6] = nullptr;
    callInPieces(selective_scan_summary<T>, grid, buffers, summary,
                 scratchOf<SelectiveScanSummary, T>(p));
    EXPECT_TRUE(decay.guardsIntact() && offset.guardsIntact() && carry.guardsIntact());
  };
  if (c.blockRows) {
    summarise(nullptr);
    entriesOf(offset, state, entries, false);
    common[6] = entries.data(), p.hasState = 1;
  }
  int64_t scratch = scratchOf<SelectiveScanForward, T>(p);
  callWhole(selective_scan_forward<T>, grid, forward(y, last), p, scratch);
  callInPieces(selective_scan_forward<T>, grid, forward(y2, last2), p, scratch);
  EXPECT_TRUE(y.sameBits(y2) && last.sameBits(last2) && y.guardsIntact() && last.guardsIntact());
  double bound = tolerance<T>(2e-6);
  EXPECT_LT(relativeError(y.values(), r.y), bound);
  if (c.finalState) {
    EXPECT_LT(relativeError(last.values(), r.last), bound);
  }

  Tensor<T> dy(r.cotangent, rows, c.channels, p.yStride), dFinal(r.dFinal, stateRows, c.states);
  int64_t items = selectiveScanGroupItems<T>(p);
  void *ending = c.finalState ? dFinal.data() : nullptr;
  if (c.blockRows) {
    summarise(dy.data());
    entriesOf(carry, ending, ends, true);
    ending = ends.data(), p.hasFinalState = 1;
  }
  int64_t sums = c.batch * p.timeBlocks;
  struct Gradients {
    Tensor<T> dx, ddt, dInitial, dGate, partialA, partialB, partialC, partialStepBias, partialSkip;
  };
  auto partial = [&](bool constant) {
    return constant ? Tensor<T>(sums, c.states * c.channels) : Tensor<T>(items, rows * width);
  };
  Gradients g{Tensor<T>(rows, c.channels, p.dxStride),
              Tensor<T>(rows, c.channels, p.ddtStride),
              Tensor<T>(stateRows, c.states),
              Tensor<T>(rows, c.channels, p.dGateStride),
              partial(true),
              partial(c.constantB),
              partial(c.constantC),
              Tensor<T>(sums, c.channels),
              Tensor<T>(sums, c.channels)};
  Gradients split = g;
  auto backward = [&](Gradients &to) {
    return withCommon({dy.data(), ending, to.dx.data(), to.ddt.data(),
                       c.state ? to.dInitial.data() : nullptr, c.gate ? to.dGate.data() : nullptr,
                       to.partialA.data(), to.partialB.data(), to.partialC.data(),
                       c.stepBias ? to.partialStepBias.data() : nullptr,
                       c.skip ? to.partialSkip.data() : nullptr});
  };
  scratch = scratchOf<SelectiveScanBackward, T>(p);
  callWhole(selective_scan_backward<T>, grid, backward(g), p, scratch);
  callInPieces(selective_scan_backward<T>, grid, backward(split), p, scratch);
  EXPECT_TRUE(g.dx.sameBits(split.dx) && g.ddt.sameBits(split.ddt) &&
              g.dInitial.sameBits(split.dInitial) && g.partialA.sameBits(split.partialA) &&
              g.partialB.sameBits(split.partialB) && g.partialC.sameBits(split.partialC) &&
              g.dGate.sameBits(split.dGate) && g.partialStepBias.sameBits(split.partialStepBias) &&
              g.partialSkip.sameBits(split.partialSkip));
  for (Tensor<T> *tensor : {&g.dx, &g.ddt, &g.dInitial, &g.dGate, &g.partialA, &g.partialB,
                            &g.partialC, &g.partialStepBias, &g.partialSkip})
    EXPECT_TRUE(tensor->guardsIntact());
  EXPECT_LT(relativeError(g.dx.values(), r.dx), bound);
  EXPECT_LT(relativeError(g.ddt.values(), r.ddt), bound);
  if (c.state) {
    EXPECT_LT(relativeError(g.dInitial.values(), r.dInitial), bound);
  }
  if (c.gate) {
    EXPECT_LT(relativeError(g.dGate.values(), r.dGate), bound);
  }
  bound *= 2; // long sums that partly cancel
  int64_t constants = c.channels * c.states;
  EXPECT_LT(relativeError(reduced(g.partialA, sums, constants, c, true), r.da), bound);
  auto mapError = [&](Tensor<T> &partials, bool constant, const Doubles &want) {
    return relativeError(constant ? reduced(partials, sums, constants, c, true)
                                  : reduced(partials, items, rows * width, c, false),
                         want);
  };
  EXPECT_LT(mapError(g.partialB, c.constantB, r.db), bound);
  EXPECT_LT(mapError(g.partialC, c.constantC, r.dc), bound);
  auto channelError = [&](Tensor<T> &partials, const Doubles &want) {
    return relativeError(reduced(partials, sums, c.channels, c, false), want);
  };
  if (c.stepBias) {
    EXPECT_LT(channelError(g.partialStepBias, r.dStepBias), bound);
  }
  if (c.skip) {
    EXPECT_LT(channelError(g.partialSkip, r.dSkip), bound);
  }
}

template <typename T> struct SelectiveScan : testing::Test {};
TYPED_TEST_SUITE(SelectiveScan, Scalars);

TYPED_TEST(SelectiveScan, AgreesForEveryShape) {
  for (int64_t length : {1, 2, 31, 32, 33, 64, 100})
    for (int64_t states : {1, 3, 4, 6, 16})
      for (int64_t channels : {1, 8, 17, 48})
        check<TypeParam>({.length = length, .channels = channels, .states = states});
}
TYPED_TEST(SelectiveScan, AgreesForGroups) {
  for (int64_t groups : {2, 3, 6, 18, 54})
    check<TypeParam>({.channels = 54, .states = 5, .groups = groups, .state = true});
}
TYPED_TEST(SelectiveScan, AgreesWithStatesSegmentsAndConstantMaps) {
  for (int mask = 0; mask < 32; ++mask)
    for (int64_t length : {1, 40})
      check<TypeParam>({.length = length,
                        .states = 6,
                        .constantB = (mask & 1) != 0,
                        .constantC = (mask & 2) != 0,
                        .segments = (mask & 4) != 0,
                        .state = (mask & 8) != 0,
                        .finalState = (mask & 16) != 0});
}
TYPED_TEST(SelectiveScan, AgreesWithWhatStandsAroundIt) {
  for (int mask = 1; mask < 16; ++mask)
    for (int64_t channels : {5, 32})
      check<TypeParam>({.length = 40,
                        .channels = channels,
                        .states = 5,
                        .segments = mask == 7,
                        .state = mask == 15,
                        .stepBias = (mask & 1) != 0,
                        .softplus = (mask & 2) != 0,
                        .skip = (mask & 4) != 0,
                        .gate = (mask & 8) != 0});
}
TYPED_TEST(SelectiveScan, AgreesForSeveralBlocksAnItem) {
  for (int64_t blocks : {2, 3, 4})
    for (int64_t groups : {1, 2})
      for (bool constant : {false, true})
        check<TypeParam>({.length = 70,
                          .channels = 140,
                          .states = 5,
                          .groups = groups,
                          .constantB = constant && groups == 1,
                          .segments = constant,
                          .state = true,
                          .finalState = true,
                          .stepBias = true,
                          .softplus = true,
                          .skip = true,
                          .gate = true,
                          .blocksPerItem = blocks});
}
TYPED_TEST(SelectiveScan, AgreesWhenDividedOverTime) {
  for (int mask = 0; mask < 8; ++mask)
    for (int64_t length : {64, 90})
      check<TypeParam>({.length = length,
                        .states = 6,
                        .constantB = mask == 5,
                        .constantC = mask == 5,
                        .segments = (mask & 1) != 0,
                        .state = (mask & 2) != 0,
                        .finalState = (mask & 4) != 0,
                        .stepBias = mask == 7,
                        .softplus = mask == 7,
                        .skip = mask == 7,
                        .gate = mask == 7,
                        .blocksPerItem = mask == 7 ? 2 : 1,
                        .blockRows = 32});
}
TEST(SelectiveScanDivision, OnlyWhereThereAreFewItems) {
  SelectiveScanParams p{};
  p.groups = 1, p.batch = 1;
  struct Division {
    int64_t channels, length, blocks;
  };
  for (auto [channels, length, blocks] :
       {Division{128, 65536, 1}, Division{16, 65536, 32}, Division{64, 65536, 8},
        Division{16, 1000, 3}, Division{16, 511, 1}, Division{16, 1, 1}}) {
    p.channels = channels, p.length = length;
    SelectiveScanDivision::onCpu<float>(p);
    EXPECT_EQ(p.timeBlocks, blocks) << channels << " " << length;
    EXPECT_LT((p.timeBlocks - 1) * p.blockRows, length);
  }
}
TEST(SelectiveScanBlocks, AnItem) {
  SelectiveScanParams p{};
  p.groups = 1, p.channels = 256, p.length = 1;
  for (auto [batch, blocks] :
       {std::pair(1, 1), std::pair(2, 2), std::pair(4, 4), std::pair(64, 4)}) {
    p.batch = batch;
    SelectiveScanDivision::onCpu<float>(p);
    EXPECT_EQ(p.blocksPerItem, blocks);
  }
}
// Negative steps let a state grow; extreme ones end in zero or infinity, never in garbage.
TEST(SelectiveScanRange, ExtremeDecays) {
  SelectiveScanParams p{};
  p.batch = 1, p.length = 3, p.channels = 1, p.states = 1, p.groups = 1, p.hasState = 1;
  p.blocksPerItem = p.timeBlocks = 1, p.blockRows = 3;
  p.xStride = p.dtStride = p.bStride = p.cStride = p.yStride = 1;
  for (auto [step, expected] : {std::pair(200.0f, 0.0f), std::pair(1e30f, 0.0f),
                                std::pair(-200.0f, std::numeric_limits<float>::infinity())}) {
    Tensor<float> x({0, 0, 0}, 3, 1), raw({step, step, step}, 3, 1), a(Doubles{-1}, 1, 1);
    Tensor<float> ones({1, 1, 1}, 3, 1), state(Doubles{1}, 1, 1), y(3, 1);
    callWhole(selective_scan_forward<float>, 1,
              {x.data(), raw.data(), a.data(), ones.data(), ones.data(), nullptr, state.data(),
               nullptr, nullptr, nullptr, nullptr, y.data()},
              p, scratchOf<SelectiveScanForward, float>(p));
    EXPECT_EQ(y.at(2, 0), expected);
  }
}

} // namespace
