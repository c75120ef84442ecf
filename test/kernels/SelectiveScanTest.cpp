//===- SelectiveScanTest.cpp - the selective scan, step by step -------------===//
#include "codegen/kernels/SelectiveScan.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/SelectiveScan.cuh"
#endif

HYBRID_TEST_KERNEL(SelectiveScanForward, selective_scan_forward, selectiveScanForward)
HYBRID_TEST_KERNEL(SelectiveScanBackward, selective_scan_backward, selectiveScanBackward)
HYBRID_TEST_KERNEL(SelectiveScanSummary, selective_scan_summary, selectiveScanSummary)
HYBRID_TEST_KERNEL(SelectiveScanEntries, selective_scan_entries, selectiveScanEntries)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch = 2, length = 37, channels = 18, states = 4, groups = 1;
  bool constantB = false, constantC = false, segments = false, state = false, finalState = false;
  bool stepBias = false, softplus = false, skip = false, gate = false;
  int64_t blocksPerItem = 1, blockRows = 0 /* all */;
};

struct Reference {
  Doubles x, raw, a, b, c, initial, stepBias, skip, z, cotangent, dFinal;
  Doubles y, last, dx, ddt, da, db, dc, dInitial, dStepBias, dSkip, dGate;
  Doubles dt, dy; // the step, and the gradient before the gate
  std::vector<int32_t> segments;

  explicit Reference(const Case &p) {
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

  void scan(const Case &p, int64_t batch, int64_t channel, int64_t n) {
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

constexpr SelectiveScanParams paramsOf(const Case &c) {
  SelectiveScanParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.states = c.states;
  p.groups = c.groups, p.constantB = c.constantB, p.constantC = c.constantC;
  p.hasSegments = c.segments, p.hasState = c.state, p.hasFinalState = c.finalState;
  p.stateGradient = c.state;
  p.hasStepBias = c.stepBias, p.softplusStep = c.softplus, p.hasSkip = c.skip, p.hasGate = c.gate;
  p.blocksPerItem = c.blocksPerItem;
  p.blockRows = c.blockRows ? c.blockRows : c.length, p.timeBlocks = ceilDiv(c.length, p.blockRows);
  const int64_t width = c.groups * c.states;
  p.xStride = c.channels + 3, p.dtStride = c.channels + 1, p.yStride = c.channels + 2;
  p.dxStride = c.channels + 4, p.ddtStride = c.channels + 5;
  p.gateStride = c.channels + 6, p.dGateStride = c.channels + 7;
  p.bStride = width + 2, p.cStride = width + 1;
  return p;
}
/// With the states that blocks of rows start from, or end with.
constexpr SelectiveScanParams divided(const Case &c, bool backward) {
  SelectiveScanParams p = paramsOf(c);
  if (p.timeBlocks > 1)
    p.hasState = 1, p.hasFinalState = backward ? 1 : p.hasFinalState;
  return p;
}
constexpr SelectiveScanParams summaryOf(const Case &c, bool gradient) {
  SelectiveScanParams p = paramsOf(c);
  p.hasState = 0, p.summariseGradient = gradient;
  return p;
}
constexpr SelectiveScanEntriesParams entriesOf(const Case &c, bool has, bool reverse) {
  return {c.batch * c.channels * c.states, paramsOf(c).timeBlocks, has, reverse};
}

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

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << "length " << c.length << " channels " << c.channels
                                  << " states " << c.states << " groups " << c.groups
                                  << " constant " << c.constantB << c.constantC << " segments "
                                  << c.segments << " state " << c.state << c.finalState
                                  << " around " << c.stepBias << c.softplus << c.skip << c.gate
                                  << " blocks " << c.blocksPerItem << " block rows " << c.blockRows
                                  << " f" << 8 * sizeof(T));
  Reference r(c);
  const SelectiveScanParams p = paramsOf(c);
  const int64_t rows = c.batch * c.length, width = c.groups * c.states,
                stateRows = c.batch * c.channels, sums = c.batch * p.timeBlocks,
                items = decided<SelectiveScanGroupItems, T>(p);
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
  auto given = [](bool is, auto &tensor) { return is ? tensor.data() : nullptr; };
  int32_t *segments = given(c.segments, r.segments);
  T *state = given(c.state, initial), *ending = given(c.finalState, dFinal);
  // A launch whose first buffers are those that all share.
  auto launchOn = [&]<typename Kernel>(const auto &of, Kernel, auto params,
                                       std::initializer_list<Output> outputs, T *from,
                                       auto... own) {
    launch<Kernel, T>(of, params, outputs, x.data(), raw.data(), a.data(), b.data(), maps.data(),
                      segments, from, given(c.stepBias, stepBias), given(c.skip, skip),
                      given(c.gate, gate), own...);
  };

  // What the blocks of rows start from, as the lowering prepares it.
  Tensor<T> decay(p.timeBlocks * stateRows, c.states), offset = decay, carry = decay,
                                                       entries = decay, ends = decay;
  constexpr auto isDivided = [](const Case &c) { return paramsOf(c).timeBlocks > 1; };
  when(of, isDivided, [&](const auto &of) {
    launchOn(
        of, SelectiveScanSummary(), [](const Case &c) { return summaryOf(c, false); },
        {&decay, &offset}, nullptr, static_cast<T *>(nullptr), decay.data(), offset.data(),
        static_cast<T *>(nullptr));
    launch<SelectiveScanEntries, T>(
        of, [](const Case &c) { return entriesOf(c, c.state, false); }, {&entries}, decay.data(),
        offset.data(), state, entries.data());
    state = entries.data();
  });
  launchOn(
      of, SelectiveScanForward(), [](const Case &c) { return divided(c, false); }, {&y, &last},
      state, given(c.finalState, last), y.data());
  double bound = tolerance<T>(onCuda ? 3e-6 : 2e-6);
  EXPECT_LT(relativeError(y.values(), r.y), bound);
  if (c.finalState) {
    EXPECT_LT(relativeError(last.values(), r.last), bound);
  }

  when(of, isDivided, [&](const auto &of) {
    launchOn(
        of, SelectiveScanSummary(), [](const Case &c) { return summaryOf(c, true); },
        {&decay, &offset, &carry}, nullptr, dy.data(), decay.data(), offset.data(), carry.data());
    launch<SelectiveScanEntries, T>(
        of, [](const Case &c) { return entriesOf(c, c.finalState, true); }, {&ends}, decay.data(),
        carry.data(), ending, ends.data());
    ending = ends.data();
  });
  auto partial = [&](bool constant) {
    return constant ? Tensor<T>(sums, c.states * c.channels) : Tensor<T>(items, rows * width);
  };
  Tensor<T> dx(rows, c.channels, p.dxStride), dRaw(rows, c.channels, p.ddtStride),
      dInitial(stateRows, c.states), dGate(rows, c.channels, p.dGateStride),
      partialA = partial(true), partialB = partial(c.constantB), partialC = partial(c.constantC),
      partialStepBias(sums, c.channels), partialSkip(sums, c.channels);
  auto backward = [&](auto... checkpoints) {
    launchOn(
        of, SelectiveScanBackward(), [](const Case &c) { return divided(c, true); },
        {&dx, &dRaw, &dInitial, &dGate, &partialA, &partialB, &partialC, &partialStepBias,
         &partialSkip},
        state, dy.data(), ending, dx.data(), dRaw.data(), given(c.state, dInitial),
        given(c.gate, dGate), partialA.data(), partialB.data(), partialC.data(),
        given(c.stepBias, partialStepBias), given(c.skip, partialSkip), checkpoints...);
  };
  if constexpr (onCuda) {
    Tensor<T> checkpoints(1, SelectiveScanCheckpoints::onCuda<T>(p));
    backward(checkpoints.data());
    EXPECT_TRUE(checkpoints.guardsIntact());
  } else {
    backward();
  }
  EXPECT_LT(relativeError(dx.values(), r.dx), bound);
  EXPECT_LT(relativeError(dRaw.values(), r.ddt), bound);
  if (c.state) {
    EXPECT_LT(relativeError(dInitial.values(), r.dInitial), bound);
  }
  if (c.gate) {
    EXPECT_LT(relativeError(dGate.values(), r.dGate), bound);
  }
  bound *= 2; // long sums that partly cancel
  const int64_t constants = c.channels * c.states;
  EXPECT_LT(relativeError(reduced(partialA, sums, constants, c, true), r.da), bound);
  auto mapError = [&](Tensor<T> &partials, bool constant, const Doubles &want) {
    return relativeError(constant ? reduced(partials, sums, constants, c, true)
                                  : reduced(partials, items, rows * width, c, false),
                         want);
  };
  EXPECT_LT(mapError(partialB, c.constantB, r.db), bound);
  EXPECT_LT(mapError(partialC, c.constantC, r.dc), bound);
  auto channelError = [&](Tensor<T> &partials, const Doubles &want) {
    return relativeError(reduced(partials, sums, c.channels, c, false), want);
  };
  if (c.stepBias) {
    EXPECT_LT(channelError(partialStepBias, r.dStepBias), bound);
  }
  if (c.skip) {
    EXPECT_LT(channelError(partialSkip, r.dSkip), bound);
  }
}

template <typename T> struct SelectiveScan : testing::Test {
  template <const auto &cases> static void checkAll() {
    forEachCase<cases>([](const auto &of) { check<T>(of); });
  }
};
TYPED_TEST_SUITE(SelectiveScan, Scalars);

constexpr Case shapes[] = {{.length = 1, .channels = 5, .states = 1},
                           {.length = 33, .channels = 40, .states = 1},
                           {.length = 31, .channels = 32, .states = 3},
                           {.length = 50, .channels = 18, .states = 4},
                           {.length = 37, .channels = 18, .states = 10},
                           {.length = 40, .channels = 48, .states = 16},
                           {.length = 20, .channels = 33, .states = 64},
                           {.batch = 1, .length = 9, .channels = 3, .states = 200}};
TYPED_TEST(SelectiveScan, AgreesForEveryShape) {
  TestFixture::template checkAll<shapes>();
  if constexpr (!onCuda)
    for (int64_t length : {1, 2, 31, 32, 33, 64, 100})
      for (int64_t states : {1, 3, 4, 6, 16})
        for (int64_t channels : {1, 8, 17, 48})
          check<TypeParam>(Given{Case{.length = length, .channels = channels, .states = states}});
}

constexpr Case groups[] = {{.channels = 54, .states = 5, .groups = 2, .state = true},
                           {.channels = 6, .states = 5, .groups = 6, .state = true}};
TYPED_TEST(SelectiveScan, AgreesForGroups) {
  TestFixture::template checkAll<groups>();
  if constexpr (!onCuda)
    for (int64_t count : {3, 6, 18, 54})
      check<TypeParam>(Given{Case{.channels = 54, .states = 5, .groups = count, .state = true}});
}

constexpr Case maps[] = {{.states = 6, .constantB = true, .segments = true, .finalState = true},
                         {.states = 6, .constantC = true, .state = true, .finalState = true},
                         {.length = 1,
                          .states = 6,
                          .constantB = true,
                          .constantC = true,
                          .segments = true,
                          .state = true,
                          .finalState = true}};
TYPED_TEST(SelectiveScan, AgreesWithStatesSegmentsAndConstantMaps) {
  TestFixture::template checkAll<maps>();
  if constexpr (!onCuda)
    for (int mask = 0; mask < 32; ++mask)
      for (int64_t length : {1, 40})
        check<TypeParam>(Given{Case{.length = length,
                                    .states = 6,
                                    .constantB = (mask & 1) != 0,
                                    .constantC = (mask & 2) != 0,
                                    .segments = (mask & 4) != 0,
                                    .state = (mask & 8) != 0,
                                    .finalState = (mask & 16) != 0}});
}

constexpr Case surroundings[] = {{.channels = 5, .stepBias = true},
                                 {.channels = 32, .softplus = true, .gate = true},
                                 {.states = 5, .state = true, .skip = true, .gate = true},
                                 {.states = 16,
                                  .segments = true,
                                  .stepBias = true,
                                  .softplus = true,
                                  .skip = true,
                                  .gate = true}};
TYPED_TEST(SelectiveScan, AgreesWithWhatStandsAroundIt) {
  TestFixture::template checkAll<surroundings>();
  if constexpr (!onCuda)
    for (int mask = 1; mask < 16; ++mask)
      for (int64_t channels : {5, 32})
        check<TypeParam>(Given{Case{.length = 40,
                                    .channels = channels,
                                    .states = 5,
                                    .segments = mask == 7,
                                    .state = mask == 15,
                                    .stepBias = (mask & 1) != 0,
                                    .softplus = (mask & 2) != 0,
                                    .skip = (mask & 4) != 0,
                                    .gate = (mask & 8) != 0}});
}

constexpr Case severalBlocks[] = {
    {.channels = 140,
     .states = 5,
     .groups = 2,
     .segments = true,
     .state = true,
     .finalState = true,
     .stepBias = true,
     .softplus = true,
     .skip = true,
     .gate = true,
     .blocksPerItem = 2},
    {.channels = 140, .constantB = true, .skip = true, .blocksPerItem = 4},
    {.channels = 140, .states = 8, .segments = true, .gate = true, .blocksPerItem = 4}};
TYPED_TEST(SelectiveScan, AgreesForSeveralBlocksAnItem) {
  TestFixture::template checkAll<severalBlocks>();
  if constexpr (!onCuda)
    for (int64_t blocks : {2, 3, 4})
      for (int64_t count : {1, 2})
        for (bool constant : {false, true})
          check<TypeParam>(Given{Case{.length = 70,
                                      .channels = 140,
                                      .states = 5,
                                      .groups = count,
                                      .constantB = constant && count == 1,
                                      .segments = constant,
                                      .state = true,
                                      .finalState = true,
                                      .stepBias = true,
                                      .softplus = true,
                                      .skip = true,
                                      .gate = true,
                                      .blocksPerItem = blocks}});
}

// So many channels that time is not divided, and so few that threads have two states each.
constexpr Case fewWarps[] = {
    {.length = 11, .channels = 2200, .states = 16, .groups = 2, .finalState = true},
    {.length = 17,
     .channels = 2700,
     .states = 13,
     .segments = true,
     .state = true,
     .stepBias = true,
     .softplus = true,
     .skip = true,
     .gate = true},
    {.length = 9, .channels = 7000, .states = 5, .constantC = true, .gate = true},
    {.length = 9, .channels = 1100, .states = 32, .constantB = true}};
TYPED_TEST(SelectiveScan, AgreesWhereWarpsAreFew) {
  TestFixture::template checkAll<fewWarps>();
  if constexpr (onCuda)
    for (const Case &of : fewWarps) {
      SelectiveScanParams p = paramsOf(of);
      EXPECT_EQ(cuda::selectiveScanStates(p), 2) << of.states;
      decided<SelectiveScanDivision, TypeParam>(p);
      EXPECT_EQ(p.timeBlocks, 1);
    }
}

constexpr Case divisions[] = {{.length = 90, .states = 6, .blockRows = 32},
                              {.length = 64,
                               .states = 6,
                               .segments = true,
                               .state = true,
                               .finalState = true,
                               .stepBias = true,
                               .softplus = true,
                               .skip = true,
                               .gate = true,
                               .blocksPerItem = 2,
                               .blockRows = 32},
                              {.length = 70,
                               .constantB = true,
                               .constantC = true,
                               .segments = true,
                               .finalState = true,
                               .blockRows = 16}};
TYPED_TEST(SelectiveScan, AgreesWhenDividedOverTime) {
  TestFixture::template checkAll<divisions>();
  if constexpr (!onCuda)
    for (int mask = 0; mask < 8; ++mask)
      for (int64_t length : {64, 90})
        check<TypeParam>(Given{Case{.length = length,
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
                                    .blockRows = 32}});
}

struct Division {
  int64_t batch, channels, states, length, blocksPerItem, timeBlocks;
};
constexpr Division ofAnH200[] = {{8, 1536, 16, 2048, 1, 1}, {1, 1536, 16, 2048, 1, 6},
                                 {128, 256, 4, 128, 1, 1},  {64, 4096, 16, 2048, 2, 1},
                                 {1, 64, 4, 100, 1, 1},     {1, 64, 4, 65536, 1, 256}};
// Only where there are few items.
constexpr Division ofACpu[] = {{1, 128, 4, 65536, 1, 1}, {1, 16, 4, 65536, 1, 32},
                               {1, 64, 4, 65536, 1, 8},  {1, 16, 4, 1000, 1, 3},
                               {1, 16, 4, 511, 1, 1},    {1, 16, 4, 1, 1, 1},
                               {1, 256, 4, 1, 1, 1},     {2, 256, 4, 1, 2, 1},
                               {4, 256, 4, 1, 4, 1},     {64, 256, 4, 1, 4, 1}};
TEST(SelectiveScanDivision, FollowsTheSizes) {
  SelectiveScanParams p{};
  p.groups = 1;
  auto checkDivision = [&](const Division &d) {
    p.batch = d.batch, p.channels = d.channels, p.states = d.states, p.length = d.length;
    decided<hybrid::SelectiveScanDivision, float>(p);
    EXPECT_EQ(p.blocksPerItem, d.blocksPerItem) << d.batch << " " << d.channels;
    EXPECT_EQ(p.timeBlocks, d.timeBlocks) << d.batch << " " << d.channels << " " << d.length;
    EXPECT_LT((p.timeBlocks - 1) * p.blockRows, d.length);
    if (onCuda) {
      EXPECT_LE(SelectiveScanBackward::onCuda<float>(p).bytes, 99 * 1024);
    }
  };
  for (const Division &d : onCuda ? std::span<const Division>(ofAnH200) : ofACpu)
    checkDivision(d);
}

// Negative steps let a state grow; extreme ones end in zero or infinity, never in garbage.
constexpr Case single[] = {{.batch = 1, .length = 3, .channels = 1, .states = 1, .state = true}};
TEST(SelectiveScanRange, ExtremeDecays) {
  for (auto [step, expected] : {std::pair(200.0f, 0.0f), std::pair(1e30f, 0.0f),
                                std::pair(-200.0f, std::numeric_limits<float>::infinity())})
    forEachCase<single>([step = step, expected = expected](const auto &of) {
      const SelectiveScanParams p = paramsOf(of.value);
      Tensor<float> x({0, 0, 0}, 3, 1, p.xStride), raw({step, step, step}, 3, 1, p.dtStride),
          a(Doubles{-1}, 1, 1), b({1, 1, 1}, 3, 1, p.bStride), c({1, 1, 1}, 3, 1, p.cStride),
          state(Doubles{1}, 1, 1), y(3, 1, p.yStride);
      float *none = nullptr;
      launch<SelectiveScanForward, float>(
          of, [](const Case &of) { return paramsOf(of); }, {&y}, x.data(), raw.data(), a.data(),
          b.data(), c.data(), static_cast<int32_t *>(nullptr), state.data(), none, none, none, none,
          y.data());
      EXPECT_EQ(y.at(2, 0), expected);
    });
}

} // namespace
