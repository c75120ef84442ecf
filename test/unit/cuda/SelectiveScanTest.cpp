//===- SelectiveScanTest.cpp - the selective scan's CUDA kernels ------------===//
#include "codegen/kernels/cuda/SelectiveScan.cuh"
#include "KernelTest.h"
#include "test/unit/kernels/SelectiveScanReference.h"

using namespace hybrid;
using namespace hybrid::cuda;
using namespace hybrid::cuda::test;
using namespace hybrid::cpu::test;

namespace {

using Case = SelectiveScanCase; // blocksPerItem: 32 channels each

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

constexpr SelectiveScanParams shapeOf(const Case &c) {
  SelectiveScanParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.states = c.states;
  p.groups = c.groups, p.constantB = c.constantB, p.constantC = c.constantC;
  p.hasSegments = c.segments, p.hasState = c.state, p.hasFinalState = c.finalState;
  p.stateGradient = c.state;
  p.hasStepBias = c.stepBias, p.softplusStep = c.softplus, p.hasSkip = c.skip, p.hasGate = c.gate;
  p.blocksPerItem = c.blocksPerItem;
  p.blockRows = c.blockRows ? c.blockRows : c.length;
  p.timeBlocks = (c.length + p.blockRows - 1) / p.blockRows;
  const int64_t width = c.groups * c.states;
  p.xStride = c.channels + 3, p.dtStride = c.channels + 1, p.yStride = c.channels + 2;
  p.dxStride = c.channels + 4, p.ddtStride = c.channels + 5;
  p.gateStride = c.channels + 6, p.dGateStride = c.channels + 7;
  p.bStride = width + 2, p.cStride = width + 1;
  return p;
}
/// With the states that blocks of rows start from, or end with.
constexpr SelectiveScanParams divided(SelectiveScanParams p, bool backward) {
  if (p.timeBlocks > 1)
    p.hasState = 1, p.hasFinalState = backward ? 1 : p.hasFinalState;
  return p;
}
constexpr SelectiveScanParams summaryOf(SelectiveScanParams p, bool gradient) {
  p.hasState = 0, p.summariseGradient = gradient;
  return p;
}

template <typename T, Case c> void check() {
  SCOPED_TRACE(testing::Message() << "length " << c.length << " channels " << c.channels
                                  << " states " << c.states << " groups " << c.groups
                                  << " constant " << c.constantB << c.constantC << " segments "
                                  << c.segments << " state " << c.state << c.finalState
                                  << " around " << c.stepBias << c.softplus << c.skip << c.gate
                                  << " blocks " << c.blocksPerItem << " block rows " << c.blockRows
                                  << " f" << 8 * sizeof(T));
  SelectiveScanReference r(c);
  constexpr SelectiveScanParams p = shapeOf(c), forward = divided(p, false),
                                backward = divided(p, true);
  constexpr int threads = selectiveScanThreads(p);
  constexpr int64_t items = selectiveScanItems(p), rows = c.batch * c.length,
                    width = c.groups * c.states, stateRows = c.batch * c.channels,
                    sums = c.batch * p.timeBlocks, groupBlocks = selectiveScanGroupBlocks(p);
  Tensor<T> x(r.x, rows, c.channels, p.xStride), raw(r.raw, rows, c.channels, p.dtStride),
      a(r.a, c.channels, c.states), initial(r.initial, stateRows, c.states),
      stepBias(r.stepBias, 1, c.channels), skip(r.skip, 1, c.channels),
      gate(r.z, rows, c.channels, p.gateStride), dy(r.cotangent, rows, c.channels, p.yStride),
      dFinal(r.dFinal, stateRows, c.states);
  auto map = [&](const Doubles &values, bool constant, int64_t stride) {
    return constant ? Tensor<T>(values, c.channels, c.states)
                    : Tensor<T>(values, rows, width, stride);
  };
  Tensor<T> b = map(r.b, c.constantB, p.bStride), maps = map(r.c, c.constantC, p.cStride);
  Tensor<T> y(rows, c.channels, p.yStride), last(stateRows, c.states);

  Tensor<T> decay(p.timeBlocks * stateRows, c.states), offset = decay, carry = decay,
                                                       entries = decay, ends = decay;
  T *state = c.state ? initial.data() : nullptr, *ending = c.finalState ? dFinal.data() : nullptr;
  auto summarise = [&]<bool gradient>() {
    run("selectiveScanSummary", items, threads, SelectiveScanSummary::onCuda<T>(p).bytes,
        [&](int64_t item) {
          selectiveScanSummary<T, summaryOf(p, gradient)>(
              item, x.data(), raw.data(), a.data(), b.data(), maps.data(), r.segments.data(),
              nullptr, stepBias.data(), skip.data(), gate.data(), dy.data(), decay.data(),
              offset.data(), gradient ? carry.data() : nullptr);
        });
  };
  auto enter = [&]<bool has, bool reverse>(Tensor<T> &from, T *first, Tensor<T> &to) {
    constexpr SelectiveScanEntriesParams e{stateRows * c.states, p.timeBlocks, has, reverse};
    run("selectiveScanEntries",
        (e.elements + selectiveScanEntriesThreads - 1) / selectiveScanEntriesThreads,
        selectiveScanEntriesThreads, 0, [&](int64_t item) {
          selectiveScanEntries<T, e>(item, decay.data(), from.data(), first, to.data());
        });
  };
  if constexpr (p.timeBlocks > 1) {
    summarise.template operator()<false>();
    enter.template operator()<c.state, false>(offset, state, entries);
    state = entries.data();
  }
  run("selectiveScanForward", items, threads, SelectiveScanForward::onCuda<T>(p).bytes,
      [&](int64_t item) {
        selectiveScanForward<T, forward>(item, x.data(), raw.data(), a.data(), b.data(),
                                         maps.data(), r.segments.data(), state, stepBias.data(),
                                         skip.data(), gate.data(), last.data(), y.data());
      });
  EXPECT_TRUE(y.guardsIntact() && last.guardsIntact());
  double bound = tolerance<T>(3e-6);
  EXPECT_LT(relativeError(y.values(), r.y), bound);
  if (c.finalState) {
    EXPECT_LT(relativeError(last.values(), r.last), bound);
  }

  if constexpr (p.timeBlocks > 1) {
    summarise.template operator()<true>();
    enter.template operator()<c.finalState, true>(carry, ending, ends);
    ending = ends.data();
  }
  auto partial = [&](bool constant) {
    return constant ? Tensor<T>(sums, c.states * c.channels) : Tensor<T>(groupBlocks, rows * width);
  };
  Tensor<T> dx(rows, c.channels, p.dxStride), dRaw(rows, c.channels, p.ddtStride),
      dInitial(stateRows, c.states), dGate(rows, c.channels, p.dGateStride),
      partialA = partial(true), partialB = partial(c.constantB), partialC = partial(c.constantC),
      partialStepBias(sums, c.channels), partialSkip(sums, c.channels),
      checkpoints(1, SelectiveScanCheckpoints::onCuda<T>(p));
  run("selectiveScanBackward", items, threads, SelectiveScanBackward::onCuda<T>(p).bytes,
      [&](int64_t item) {
        selectiveScanBackward<T, backward>(
            item, x.data(), raw.data(), a.data(), b.data(), maps.data(), r.segments.data(), state,
            stepBias.data(), skip.data(), gate.data(), dy.data(), ending, dx.data(), dRaw.data(),
            dInitial.data(), dGate.data(), partialA.data(), partialB.data(), partialC.data(),
            partialStepBias.data(), partialSkip.data(), checkpoints.data());
      });
  for (Tensor<T> *tensor : {&dx, &dRaw, &dInitial, &dGate, &partialA, &partialB, &partialC,
                            &partialStepBias, &partialSkip, &checkpoints})
    EXPECT_TRUE(tensor->guardsIntact());
  EXPECT_LT(relativeError(dx.values(), r.dx), bound);
  EXPECT_LT(relativeError(dRaw.values(), r.ddt), bound);
  if (c.state) {
    EXPECT_LT(relativeError(dInitial.values(), r.dInitial), bound);
  }
  if (c.gate) {
    EXPECT_LT(relativeError(dGate.values(), r.dGate), bound);
  }
  bound *= 2; // long sums that partly cancel
  constexpr int64_t constants = c.channels * c.states;
  EXPECT_LT(relativeError(reduced(partialA, sums, constants, c, true), r.da), bound);
  auto mapError = [&](Tensor<T> &partials, bool constant, const Doubles &want) {
    return relativeError(constant ? reduced(partials, sums, constants, c, true)
                                  : reduced(partials, groupBlocks, rows * width, c, false),
                         want);
  };
  EXPECT_LT(mapError(partialB, c.constantB, r.db), bound);
  EXPECT_LT(mapError(partialC, c.constantC, r.dc), bound);
  if (c.stepBias) {
    EXPECT_LT(relativeError(reduced(partialStepBias, sums, c.channels, c, false), r.dStepBias),
              bound);
  }
  if (c.skip) {
    EXPECT_LT(relativeError(reduced(partialSkip, sums, c.channels, c, false), r.dSkip), bound);
  }
}

template <typename T> struct SelectiveScan : testing::Test {};
TYPED_TEST_SUITE(SelectiveScan, Scalars);

TYPED_TEST(SelectiveScan, AgreesForEveryNumberOfStates) {
  check<TypeParam, Case{.length = 1, .channels = 5, .states = 1}>();
  check<TypeParam, Case{.length = 33, .channels = 40, .states = 1}>();
  check<TypeParam, Case{.length = 31, .channels = 32, .states = 3}>();
  check<TypeParam, Case{.length = 50, .channels = 18, .states = 4}>();
  check<TypeParam, Case{.length = 37, .channels = 18, .states = 10}>();
  check<TypeParam, Case{.length = 40, .channels = 48, .states = 16}>();
  check<TypeParam, Case{.length = 20, .channels = 33, .states = 64}>();
  check<TypeParam, Case{.batch = 1, .length = 9, .channels = 3, .states = 200}>();
}
TYPED_TEST(SelectiveScan, AgreesForGroups) {
  check<TypeParam, Case{.channels = 54, .states = 5, .groups = 2, .state = true}>();
  check<TypeParam, Case{.channels = 6, .states = 5, .groups = 6, .state = true}>();
}
TYPED_TEST(SelectiveScan, AgreesWithStatesSegmentsAndConstantMaps) {
  check<TypeParam, Case{.states = 6, .constantB = true, .segments = true, .finalState = true}>();
  check<TypeParam, Case{.states = 6, .constantC = true, .state = true, .finalState = true}>();
  check<TypeParam, Case{.length = 1,
                        .states = 6,
                        .constantB = true,
                        .constantC = true,
                        .segments = true,
                        .state = true,
                        .finalState = true}>();
}
TYPED_TEST(SelectiveScan, AgreesWithWhatStandsAroundIt) {
  check<TypeParam, Case{.channels = 5, .stepBias = true}>();
  check<TypeParam, Case{.channels = 32, .softplus = true, .gate = true}>();
  check<TypeParam, Case{.states = 5, .state = true, .skip = true, .gate = true}>();
  check<TypeParam, Case{.states = 16,
                        .segments = true,
                        .stepBias = true,
                        .softplus = true,
                        .skip = true,
                        .gate = true}>();
}
TYPED_TEST(SelectiveScan, AgreesForSeveralWarpsOfChannels) {
  check<TypeParam, Case{.channels = 140,
                        .states = 5,
                        .groups = 2,
                        .segments = true,
                        .state = true,
                        .finalState = true,
                        .stepBias = true,
                        .softplus = true,
                        .skip = true,
                        .gate = true,
                        .blocksPerItem = 2}>();
  check<TypeParam, Case{.channels = 140, .constantB = true, .skip = true, .blocksPerItem = 4}>();
}
TYPED_TEST(SelectiveScan, AgreesWhenDividedOverTime) {
  check<TypeParam, Case{.length = 90, .states = 6, .blockRows = 32}>();
  check<TypeParam, Case{.length = 64,
                        .states = 6,
                        .segments = true,
                        .state = true,
                        .finalState = true,
                        .stepBias = true,
                        .softplus = true,
                        .skip = true,
                        .gate = true,
                        .blocksPerItem = 2,
                        .blockRows = 32}>();
  check<TypeParam, Case{.length = 70,
                        .constantB = true,
                        .constantC = true,
                        .segments = true,
                        .finalState = true,
                        .blockRows = 16}>();
}

TEST(SelectiveScanDivision, ForAnH200) {
  SelectiveScanParams p{};
  p.groups = 1;
  struct Division {
    int64_t batch, channels, states, length, warps, timeBlocks;
  };
  for (auto [batch, channels, states, length, warps, timeBlocks] :
       {Division{8, 1536, 16, 2048, 1, 1}, Division{1, 1536, 16, 2048, 1, 6},
        Division{128, 256, 4, 128, 1, 1}, Division{64, 4096, 16, 2048, 2, 1},
        Division{1, 64, 4, 100, 1, 1}, Division{1, 64, 4, 65536, 1, 256}}) {
    p.batch = batch, p.channels = channels, p.states = states, p.length = length;
    hybrid::SelectiveScanDivision::onCuda<float>(p);
    EXPECT_EQ(p.blocksPerItem, warps) << batch << " " << channels;
    EXPECT_EQ(p.timeBlocks, timeBlocks) << batch << " " << channels;
    EXPECT_LT((p.timeBlocks - 1) * p.blockRows, length);
    EXPECT_LE(SelectiveScanBackward::onCuda<float>(p).bytes, 99 * 1024);
  }
}

} // namespace
