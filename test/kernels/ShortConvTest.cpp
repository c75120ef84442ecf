//===- ShortConvTest.cpp - short convolution against the direct sum ---------===//
#include "codegen/kernels/ShortConv.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/ShortConv.cuh"
#endif

HYBRID_TEST_KERNEL(ShortConvForward, short_conv_forward, shortConvForward)
HYBRID_TEST_KERNEL(ShortConvBackward, short_conv_backward, shortConvBackward)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch = 2, length = 33, channels = 17, taps = 3, rowsPerItem = 10;
  bool bias = true, segments = false, state = false, finalState = false, silu = false;
  int64_t repeats = 0;
  bool sums = false;  // gradients of channels that repeat one
  bool pairs = false; // of channels are moved together
  constexpr int64_t inputGradients() const { return sums ? repeats : channels; }
};

/// Everything follows from an extended sequence: the state, then the inputs.
struct Reference {
  Doubles x, w, b, initial, dy, dFinal, y, last, dx, dw, db, dInitial;
  std::vector<int32_t> segments;

  explicit Reference(const Case &c) {
    int64_t rows = c.batch * c.length, history = c.taps - 1;
    int64_t states = c.batch * history * c.channels;
    x = randomDoubles(rows * c.channels, 1), w = randomDoubles(c.channels * c.taps, 2);
    b = randomDoubles(c.channels, 3), initial = randomDoubles(states, 4);
    dy = randomDoubles(rows * c.channels, 5), dFinal = randomDoubles(states, 6);
    for (int64_t r = 0; r < rows; ++r)
      segments.push_back(static_cast<int32_t>((r % c.length + r / c.length) / 5 % 2));
    y.assign(x.size(), 0), dx.assign(static_cast<size_t>(rows * c.inputGradients()), 0),
        dw.assign(w.size(), 0), db.assign(b.size(), 0);
    last.assign(initial.size(), 0), dInitial = last;
    for (int64_t batch = 0; batch < c.batch; ++batch)
      for (int64_t ch = 0; ch < c.channels; ++ch) {
        auto channel = static_cast<size_t>(ch);
        auto row = [&](int64_t t) {
          return static_cast<size_t>((batch * c.length + t) * c.channels + ch);
        };
        auto old = [&](int64_t k) {
          return static_cast<size_t>((batch * history + k) * c.channels + ch);
        };
        auto value = [&](int64_t t) {
          const int64_t read = c.repeats ? ch % c.repeats : ch;
          return t < 0 ? initial[old(t + history)]
                       : x[static_cast<size_t>((batch * c.length + t) * c.channels + read)];
        };
        auto gradient = [&](int64_t t) -> double & {
          const int64_t own = c.inputGradients(), at = (batch * c.length + t) * own + ch % own;
          return t < 0 ? dInitial[old(t + history)] : dx[static_cast<size_t>(at)];
        };
        auto id = [&](int64_t t) {
          return segments[static_cast<size_t>(batch * c.length + (t < 0 ? 0 : t))];
        };
        auto counts = [&](int64_t s, int64_t t) {
          return (s >= 0 || c.state) && (!c.segments || id(s) == id(t));
        };
        for (int64_t t = 0; t < c.length; ++t) {
          double sum = c.bias ? b[channel] : 0, slope = 1;
          for (int64_t j = 0; j < c.taps; ++j)
            if (int64_t s = t - history + j; counts(s, t))
              sum += w[static_cast<size_t>(ch * c.taps + j)] * value(s);
          if (c.silu) {
            double logistic = 1 / (1 + std::exp(-sum));
            slope = logistic * (1 + sum * (1 - logistic));
            sum *= logistic;
          }
          y[row(t)] = sum;
          double g = dy[row(t)] * slope;
          db[channel] += g;
          for (int64_t j = 0; j < c.taps; ++j)
            if (int64_t s = t - history + j; counts(s, t)) {
              dw[static_cast<size_t>(ch * c.taps + j)] += g * value(s);
              gradient(s) += g * w[static_cast<size_t>(ch * c.taps + j)];
            }
        }
        for (int64_t k = 0; c.finalState && k < history; ++k)
          if (int64_t t = c.length - history + k; counts(t, c.length - 1)) {
            last[old(k)] = value(t);
            gradient(t) += dFinal[old(k)];
          }
      }
  }
};

constexpr ShortConvParams paramsOf(const Case &c) {
  ShortConvParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.taps = c.taps;
  p.xStride = c.channels + 4, p.yStride = c.channels + (c.pairs ? 6 : 1);
  p.dxStride = c.channels + 2, p.together = c.pairs ? 2 : 1;
  p.rowsPerItem = c.rowsPerItem, p.hasBias = c.bias, p.hasSegments = c.segments;
  p.hasState = c.state, p.hasFinalState = c.finalState, p.activation = c.silu;
  p.repeats = c.repeats, p.sumsRepeats = c.sums;
  return p;
}

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << "length " << c.length << " channels " << c.channels << " taps "
                                  << c.taps << " rows " << c.rowsPerItem << " segments "
                                  << c.segments << " state " << c.state << c.finalState << " silu "
                                  << c.silu << " f" << 8 * sizeof(T));
  Reference r(c);
  constexpr auto params = [](const Case &c) { return paramsOf(c); };
  const ShortConvParams p = params(c);
  const int64_t rows = c.batch * c.length, states = c.batch * (c.taps - 1),
                items = shortConvItems(p);
  Tensor<T> x(r.x, rows, c.channels, p.xStride), w(r.w, c.channels, c.taps), b(r.b, 1, c.channels),
      initial(r.initial, states, c.channels), y(rows, c.channels, p.yStride),
      last(states, c.channels);
  const int32_t *segments = c.segments ? r.segments.data() : nullptr;
  const T *state = c.state ? initial.data() : nullptr, *bias = c.bias ? b.data() : nullptr;
  constexpr auto forward = [](const Case &c) {
    ShortConvParams p = paramsOf(c);
    p.sumsRepeats = 0;
    return p;
  };
  launch<ShortConvForward, T>(of, forward, {&y, &last}, x.data(), w.data(), bias, segments, state,
                              c.finalState ? last.data() : nullptr, y.data());
  const double bound = tolerance<T>(1e-6);
  EXPECT_LT(relativeError(y.values(), r.y), bound);
  if (c.finalState) {
    EXPECT_EQ(last.values(), r.last);
  }

  Tensor<T> dy(r.dy, rows, c.channels, p.yStride), dFinal(r.dFinal, states, c.channels),
      dx(rows, c.inputGradients(), p.dxStride), dInitial(states, c.channels),
      partial(items, (c.taps + 1) * c.channels);
  launch<ShortConvBackward, T>(of, params, {&dx, &dInitial, &partial}, x.data(), w.data(), segments,
                               state, dy.data(), c.finalState ? dFinal.data() : nullptr,
                               c.state ? dInitial.data() : nullptr, partial.data(), bias,
                               dx.data());
  EXPECT_LT(relativeError(dx.values(), r.dx), bound);
  if (c.state) {
    EXPECT_LT(relativeError(dInitial.values(), r.dInitial), bound);
  }
  Doubles dw(r.dw.size(), 0), db(r.db.size(), 0);
  for (int64_t item = 0; item < items; ++item)
    for (int64_t ch = 0; ch < c.channels; ++ch) {
      for (int64_t j = 0; j < c.taps; ++j)
        dw[static_cast<size_t>(ch * c.taps + j)] +=
            static_cast<double>(partial.at(item, j * c.channels + ch));
      db[static_cast<size_t>(ch)] +=
          static_cast<double>(partial.at(item, c.taps * c.channels + ch));
    }
  EXPECT_LT(relativeError(dw, r.dw), bound * 2);
  EXPECT_LT(relativeError(db, r.db), bound * 2);
}

template <typename T> struct ShortConv : testing::Test {
  template <const auto &cases> static void checkAll() {
    forEachCase<cases>([](const auto &of) { check<T>(of); });
  }
};
TYPED_TEST_SUITE(ShortConv, Scalars);

constexpr Case shapes[] = {{.length = 1, .channels = 1, .taps = 1},
                           {.length = 2, .channels = 48, .taps = 3},
                           {.length = 33, .channels = 17, .taps = 4},
                           {.length = 127, .channels = 300, .taps = 3},
                           {.length = 127, .channels = 8, .taps = 8, .rowsPerItem = 32},
                           {.length = 33, .channels = 17, .taps = 9},
                           {.length = 10, .channels = 8, .taps = 40}};
TYPED_TEST(ShortConv, AgreesForEveryShape) {
  TestFixture::template checkAll<shapes>();
  if constexpr (!onCuda)
    for (int64_t length : {1, 2, 3, 10, 33, 127})
      for (int64_t taps : {1, 2, 3, 4, 5, 16, 17, 40})
        for (int64_t channels : {1, 8, 17, 48})
          check<TypeParam>(Given{Case{.length = length, .channels = channels, .taps = taps}});
}
TYPED_TEST(ShortConv, AgreesForManyChannels) {
  if constexpr (!onCuda)
    for (int64_t taps : {1, 3, 16, 17})
      for (bool silu : {false, true})
        check<TypeParam>(Given{
            Case{.length = 70, .channels = 1100, .taps = taps, .rowsPerItem = 32, .silu = silu}});
}

// Behind the channels that repeat stands what must not be read.
constexpr Case repeated[] = {
    {.length = 33, .channels = 24, .taps = 3, .repeats = 6},
    {.length = 17, .channels = 300, .taps = 4, .state = true, .finalState = true, .repeats = 100},
    {.length = 20, .channels = 16, .taps = 9, .silu = true, .repeats = 8}};
TYPED_TEST(ShortConv, ReadsChannelsThatRepeat) {
  if constexpr (onCuda)
    TestFixture::template checkAll<repeated>();
}
constexpr Case summed[] = {
    {.length = 33, .channels = 24, .taps = 3, .repeats = 6, .sums = true},
    {.length = 40, .channels = 600, .taps = 4, .segments = true, .repeats = 300, .sums = true},
    {.length = 20, .channels = 16, .taps = 9, .silu = true, .repeats = 8, .sums = true}};
TYPED_TEST(ShortConv, SumsGradientsOfChannelsThatRepeat) {
  if constexpr (onCuda)
    TestFixture::template checkAll<summed>();
}

constexpr Case paired[] = {
    {.length = 33, .channels = 18, .taps = 3, .pairs = true},
    {.length = 70,
     .channels = 600,
     .taps = 4,
     .rowsPerItem = 32,
     .segments = true,
     .silu = true,
     .pairs = true},
    {.length = 17,
     .channels = 20,
     .taps = 4,
     .state = true,
     .finalState = true,
     .repeats = 10,
     .pairs = true},
    {.length = 33,
     .channels = 24,
     .taps = 8,
     .segments = true,
     .state = true,
     .finalState = true,
     .pairs = true},
    {.length = 33, .channels = 400, .taps = 3, .repeats = 100, .sums = true, .pairs = true}};
TYPED_TEST(ShortConv, AgreesForPairsOfChannels) {
  if constexpr (onCuda)
    TestFixture::template checkAll<paired>();
}

/// A bit an option.
constexpr Case masked(int mask, int64_t length, int64_t taps, int64_t rows) {
  return {.length = length,
          .taps = taps,
          .rowsPerItem = rows,
          .bias = (mask & 1) != 0,
          .segments = (mask & 2) != 0,
          .state = (mask & 4) != 0,
          .finalState = (mask & 8) != 0,
          .silu = (mask & 16) != 0};
}
constexpr Case options[] = {masked(6, 24, 4, 24),  masked(15, 24, 4, 5),  masked(12, 3, 4, 2),
                            masked(14, 1, 4, 2),   masked(16, 24, 3, 10), masked(29, 24, 4, 24),
                            masked(31, 24, 4, 5),  masked(31, 24, 20, 5), masked(20, 3, 20, 2),
                            masked(10, 24, 20, 24)};
TYPED_TEST(ShortConv, AgreesWithStatesSegmentsAndActivation) {
  TestFixture::template checkAll<options>();
  if constexpr (!onCuda)
    for (int mask = 0; mask < 32; ++mask)
      for (int64_t length : {1, 3, 24})
        for (int64_t taps : {1, 4, 20})
          for (int64_t rows : {2, 24})
            check<TypeParam>(Given{masked(mask, length, taps, rows)});
}

} // namespace
