//===- ExponentialMovingAverageTest.cpp - averages, by their recurrence ------===//
#include "codegen/kernels/ExponentialMovingAverage.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/ExponentialMovingAverage.cuh"
#endif

HYBRID_TEST_KERNEL(ExponentialMovingAverageSummary, exponential_moving_average_summary,
                   exponentialMovingAverageSummary)
HYBRID_TEST_KERNEL(ExponentialMovingAverageForward, exponential_moving_average_forward,
                   exponentialMovingAverageForward)
HYBRID_TEST_KERNEL(ExponentialMovingAverageBackward, exponential_moving_average_backward,
                   exponentialMovingAverageBackward)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch = 2, length = 33, channels = 17, blockRows = 0 /* all */;
  bool segments = false, state = false, finalState = false;
};

/// Term by term, in double.
struct Reference {
  Doubles x, decay, initial, dy, dFinal, y, last, dx, dDecay, dInitial;
  std::vector<int32_t> segments;

  explicit Reference(const Case &c) {
    const int64_t rows = c.batch * c.length, states = c.batch * c.channels;
    x = randomDoubles(rows * c.channels, 1), initial = randomDoubles(states, 2);
    dy = randomDoubles(rows * c.channels, 3), dFinal = randomDoubles(states, 4);
    for (int64_t i = 0; i < c.channels; ++i)
      decay.push_back(0.5 + 0.4375 * static_cast<double>(i % 16) / 16);
    for (int64_t r = 0; r < rows; ++r)
      segments.push_back(static_cast<int32_t>((r % c.length + r / c.length) / 7 % 2));
    y = dx = Doubles(x.size(), 0), last = dInitial = Doubles(initial.size(), 0);
    dDecay.assign(decay.size(), 0);
    for (int64_t state = 0; state < states; ++state) {
      const int64_t batch = state / c.channels, channel = state % c.channels;
      const double a = decay[static_cast<size_t>(channel)];
      auto at = [&](int64_t t) {
        return static_cast<size_t>((batch * c.length + t) * c.channels + channel);
      };
      auto starts = [&](int64_t t) {
        const int32_t *ids = segments.data() + batch * c.length;
        return c.segments && t > 0 && ids[t] != ids[t - 1];
      };
      auto before = [&](int64_t t) {
        if (t == 0)
          return c.state ? initial[static_cast<size_t>(state)] : 0;
        return starts(t) ? 0 : y[at(t - 1)];
      };
      for (int64_t t = 0; t < c.length; ++t)
        y[at(t)] = a * before(t) + (1 - a) * x[at(t)];
      last[static_cast<size_t>(state)] = y[at(c.length - 1)];
      double g = c.finalState ? dFinal[static_cast<size_t>(state)] : 0;
      for (int64_t t = c.length - 1; t >= 0; --t) {
        g += dy[at(t)];
        dx[at(t)] = (1 - a) * g;
        dDecay[static_cast<size_t>(channel)] += g * (before(t) - x[at(t)]);
        g = starts(t) ? 0 : a * g;
      }
      dInitial[static_cast<size_t>(state)] = g;
    }
  }
};

constexpr ExponentialMovingAverageParams paramsOf(const Case &c) {
  ExponentialMovingAverageParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels;
  p.blockRows = c.blockRows ? c.blockRows : c.length, p.timeBlocks = ceilDiv(c.length, p.blockRows);
  p.xStride = c.channels + 3, p.yStride = c.channels + 1, p.dyStride = c.channels + 2;
  p.dxStride = c.channels + 4;
  p.hasSegments = c.segments, p.hasState = c.state, p.hasFinalState = c.finalState;
  p.stateGradient = c.state;
  return p;
}
constexpr ExponentialMovingAverageParams summaryOf(const Case &c, bool reverse) {
  ExponentialMovingAverageParams p = paramsOf(c);
  p.reverse = reverse, p.xStride = reverse ? p.dyStride : p.xStride;
  return p;
}

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << "length " << c.length << " channels " << c.channels
                                  << " block rows " << c.blockRows << " segments " << c.segments
                                  << " state " << c.state << c.finalState << " f" << 8 * sizeof(T));
  Reference r(c);
  constexpr auto params = [](const Case &c) { return paramsOf(c); };
  constexpr auto isDivided = [](const Case &c) { return paramsOf(c).timeBlocks > 1; };
  const ExponentialMovingAverageParams p = params(c);
  const int64_t rows = c.batch * c.length, sums = p.timeBlocks * c.batch;
  Tensor<T> x(r.x, rows, c.channels, p.xStride), decay(r.decay, 1, c.channels),
      initial(r.initial, c.batch, c.channels), y(rows, c.channels, p.yStride),
      last(c.batch, c.channels), blockDecay(sums, c.channels), offset(sums, c.channels);
  const int32_t *segments = c.segments ? r.segments.data() : nullptr;
  T *state = c.state ? initial.data() : nullptr;
  when(of, isDivided, [&](const auto &of) {
    launch<ExponentialMovingAverageSummary, T>(
        of, [](const Case &c) { return summaryOf(c, false); }, {&blockDecay, &offset}, x.data(),
        decay.data(), segments, blockDecay.data(), offset.data());
  });
  launch<ExponentialMovingAverageForward, T>(of, params, {&y, &last}, x.data(), decay.data(),
                                             segments, state, blockDecay.data(), offset.data(),
                                             c.finalState ? last.data() : nullptr, y.data());
  const double bound = tolerance<T>(2e-6);
  EXPECT_LT(relativeError(y.values(), r.y), bound);
  if (c.finalState) {
    EXPECT_LT(relativeError(last.values(), r.last), bound);
  }

  Tensor<T> dy(r.dy, rows, c.channels, p.dyStride), dFinal(r.dFinal, c.batch, c.channels),
      dx(rows, c.channels, p.dxStride), dInitial(c.batch, c.channels), partial(sums, c.channels);
  when(of, isDivided, [&](const auto &of) {
    launch<ExponentialMovingAverageSummary, T>(
        of, [](const Case &c) { return summaryOf(c, true); }, {&blockDecay, &offset}, dy.data(),
        decay.data(), segments, blockDecay.data(), offset.data());
  });
  launch<ExponentialMovingAverageBackward, T>(
      of, params, {&dx, &dInitial, &partial}, x.data(), decay.data(), segments, state, y.data(),
      dy.data(), blockDecay.data(), offset.data(), c.finalState ? dFinal.data() : nullptr,
      c.state ? dInitial.data() : nullptr, partial.data(), dx.data());
  EXPECT_LT(relativeError(dx.values(), r.dx), bound);
  if (c.state) {
    EXPECT_LT(relativeError(dInitial.values(), r.dInitial), bound);
  }
  Doubles dDecay(r.decay.size(), 0);
  for (int64_t i = 0; i < sums; ++i)
    for (int64_t j = 0; j < c.channels; ++j)
      dDecay[static_cast<size_t>(j)] += static_cast<double>(partial.at(i, j));
  EXPECT_LT(relativeError(dDecay, r.dDecay), 2 * bound);
}

template <typename T> struct ExponentialMovingAverage : testing::Test {
  template <const auto &cases> static void checkAll() {
    forEachCase<cases>([](const auto &of) { check<T>(of); });
  }
};
TYPED_TEST_SUITE(ExponentialMovingAverage, Scalars);

constexpr Case shapes[] = {{.length = 1, .channels = 1},
                           {.length = 2, .channels = 64},
                           {.length = 33, .channels = 17},
                           {.batch = 1, .length = 40, .channels = 300}};
TYPED_TEST(ExponentialMovingAverage, AgreesForEveryShape) {
  TestFixture::template checkAll<shapes>();
}
constexpr Case states[] = {{.state = true},
                           {.segments = true},
                           {.finalState = true},
                           {.length = 1, .segments = true, .state = true, .finalState = true},
                           {.segments = true, .state = true, .finalState = true}};
TYPED_TEST(ExponentialMovingAverage, AgreesWithStatesAndSegments) {
  TestFixture::template checkAll<states>();
}
constexpr Case divisions[] = {
    {.length = 64, .blockRows = 16},
    {.length = 50, .channels = 130, .blockRows = 16, .state = true, .finalState = true},
    {.length = 50, .blockRows = 12, .segments = true, .state = true, .finalState = true}};
TYPED_TEST(ExponentialMovingAverage, AgreesWhenDividedOverTime) {
  TestFixture::template checkAll<divisions>();
}

TEST(ExponentialMovingAverageDivision, OnlyWhereThereAreFewItems) {
  ExponentialMovingAverageParams p{};
  for (auto [batch, length, divides] : {std::tuple(1, 8192, true), std::tuple(1, 100, false),
                                        std::tuple(4096, 8192, false), std::tuple(1, 1, false)}) {
    p.batch = batch, p.length = length, p.channels = 64;
    decided<hybrid::ExponentialMovingAverageDivision, float>(p);
    EXPECT_EQ(p.timeBlocks > 1, divides) << batch << " " << length;
    EXPECT_LT((p.timeBlocks - 1) * p.blockRows, p.length);
    EXPECT_GE(p.timeBlocks * p.blockRows, p.length);
  }
}

} // namespace
