//===- FFTConvToeplitzTest.cpp - convolution by matrix units, against the sum ===//
//
// On CUDA.
//
//===----------------------------------------------------------------------===//
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/FFTConvToeplitz.cuh"
#include "test/kernels/FFTConvReference.h"

HYBRID_TEST_KERNEL(ToeplitzConvForward, , toeplitzConvForward)
HYBRID_TEST_KERNEL(ToeplitzConvBackward, , toeplitzConvBackward)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch, length, channels, taps, splits = 1, skip = 1, gateIn = 1, gateOut = 1,
                                         alignment = 1, lanes = 8;
};

constexpr ToeplitzConvParams paramsOf(const Case &s) {
  return {.batch = s.batch,
          .length = s.length,
          .channels = s.channels,
          .taps = s.taps,
          .splits = s.splits,
          .xStride = s.channels + 5 * s.alignment,
          .gateInStride = s.channels + 3 * s.alignment,
          .gateOutStride = s.channels,
          .yStride = s.channels + 1 * s.alignment,
          .dxStride = s.channels + 2 * s.alignment,
          .dGateInStride = s.channels + 7 * s.alignment,
          .dGateOutStride = s.channels,
          .hasSkip = s.skip,
          .hasGateIn = s.gateIn,
          .hasGateOut = s.gateOut,
          .alignment = s.alignment,
          .lanes = s.lanes,
          .hasShortX = 0,
          .hasShortGateIn = 0,
          .hasShortGateOut = 0,
          .hasShortBias = 0,
          .shortTaps = 0,
          .repeats = 0,
          .xChannel = 0,
          .gateInChannel = 0,
          .gateOutChannel = 0};
}

template <typename Of> void check(const Of &of) {
  constexpr auto params = [](const Case &c) { return paramsOf(c); };
  const ToeplitzConvParams p = params(of.value);
  SCOPED_TRACE(testing::Message() << "batch " << p.batch << " length " << p.length << " channels "
                                  << p.channels << " taps " << p.taps << " splits " << p.splits);
  constexpr double bound = 6e-3; // activations are rounded to 8 bits
  FFTConvTensors<float, ToeplitzConvParams> o(p, false);
  Tensor<float> partial(p.splits, p.taps * p.channels);
  launch<ToeplitzConvForward, float>(of, params, {&o.y}, o.x.data(), o.filter.data(), o.skip.data(),
                                     o.gateIn.data(), o.gateOut.data(), nullptr, nullptr,
                                     o.y.data());
  EXPECT_LT(relativeError(o.y.values(), o.r.y), bound);
  launch<ToeplitzConvBackward, float>(of, params, {&o.dx, &partial, &o.dGateIn, &o.dGateOut},
                                      o.x.data(), o.filter.data(), o.skip.data(), o.gateIn.data(),
                                      o.gateOut.data(), nullptr, nullptr, o.dy.data(), o.dx.data(),
                                      partial.data(), o.dGateIn.data(), o.dGateOut.data());
  o.expectGradients(bound);
  Doubles dFilter(static_cast<size_t>(p.taps * p.channels));
  for (int64_t split = 0; split < p.splits; ++split)
    for (int64_t i = 0; i < p.taps * p.channels; ++i)
      dFilter[static_cast<size_t>(i)] += static_cast<double>(partial.at(split, i));
  EXPECT_LT(relativeError(dFilter, o.r.dFilter), bound);
  if (p.hasSkip) {
    dFilter.resize(static_cast<size_t>(p.channels));
    EXPECT_LT(relativeError(dFilter, o.r.dSkip), bound);
  }
}

template <const auto &cases> void checkAll() {
  forEachCase<cases>([](const auto &of) { check(of); });
}

constexpr Case panels[] = {{8, 1, 8, 1},       {8, 16, 8, 16},   {3, 32, 8, 32},
                           {9, 64, 8, 64, 2},  {8, 128, 8, 128}, {2, 250, 8, 250},
                           {9, 256, 9, 256, 2}};
TEST(ToeplitzConv, AgreesForEveryPanel) { checkAll<panels>(); }
constexpr Case shapes[] = {{17, 33, 17, 33, 3},
                           {5, 100, 3, 100},
                           {1, 131, 7, 131},
                           {20, 7, 9, 7, 4}}; // a split without rows
TEST(ToeplitzConv, AgreesForOddShapes) { checkAll<shapes>(); }
constexpr Case shortFilters[] = {{3, 200, 8, 1}, {3, 200, 8, 2}, {3, 130, 8, 17}, {3, 192, 8, 66}};
TEST(ToeplitzConv, AgreesForShortFilters) { checkAll<shortFilters>(); }
constexpr Case surroundings[] = {
    {3, 40, 8, 9, 1, 0, 0, 0}, {3, 40, 8, 40, 1, 1, 0, 1}, {3, 140, 8, 140, 1, 0, 1, 0}};
TEST(ToeplitzConv, AgreesWithAndWithoutGatesAndSkip) { checkAll<surroundings>(); }

// A thread has several channels of a position.
constexpr Case aligned[] = {
    {8, 128, 16, 128, 1, 1, 1, 1, 8, 16}, {16, 96, 16, 96, 2, 1, 1, 1, 8, 16},
    {16, 67, 8, 67, 2, 1, 1, 1, 8},       {11, 67, 32, 67, 2, 1, 1, 1, 8, 16},
    {3, 256, 16, 256, 1, 0, 1, 0, 8},     {5, 16, 24, 9, 3, 1, 0, 1, 8},
    {1, 1, 8, 1, 1, 1, 0, 0, 8}};
TEST(ToeplitzConv, AgreesForAlignedChannels) { checkAll<aligned>(); }

/// Operands that are channels of a short convolution: gateOut, then gateIn, then x, behind `before`
/// others.
struct ShortCase {
  Case conv;
  int64_t taps, repeats = 0, bias = 1, x = 1, gateIn = 1, gateOut = 1, before = 0;
};
constexpr int64_t shortChannels(const ShortCase &c) { return c.before + 3 * c.conv.channels; }

/// stored: the short convolution's results lie in memory.
constexpr ToeplitzConvParams paramsOf(const ShortCase &c, bool stored) {
  ToeplitzConvParams p = paramsOf(c.conv);
  if (stored)
    return p;
  const int64_t stride = shortChannels(c) + c.conv.alignment;
  p.hasShortX = c.x, p.hasShortGateIn = c.gateIn && c.conv.gateIn;
  p.hasShortGateOut = c.gateOut && c.conv.gateOut;
  p.hasShortBias = c.bias, p.shortTaps = c.taps, p.repeats = c.repeats;
  p.gateOutChannel = c.before, p.gateInChannel = p.gateOutChannel + c.conv.channels,
  p.xChannel = p.gateInChannel + c.conv.channels;
  if (c.x)
    p.xStride = stride;
  if (c.gateIn)
    p.gateInStride = stride;
  if (c.gateOut)
    p.gateOutStride = stride;
  return p;
}

/// Both are the same bits.
template <typename Of> void checkShort(const Of &of) {
  constexpr auto stored = [](const ShortCase &c) { return paramsOf(c, true); };
  constexpr auto computed = [](const ShortCase &c) { return paramsOf(c, false); };
  const ShortCase &c = of.value;
  const ToeplitzConvParams p = computed(c);
  SCOPED_TRACE(testing::Message() << "batch " << p.batch << " length " << p.length << " channels "
                                  << p.channels << " short taps " << c.taps);
  const int64_t all = shortChannels(c), read = c.repeats ? c.repeats : all,
                rows = p.batch * p.length;
  Tensor<float> input(randomDoubles(rows * read, 7), rows, read, all + c.conv.alignment),
      weight(randomDoubles(all * c.taps, 8), all, c.taps), bias(randomDoubles(all, 9), 1, all);
  FFTConvTensors<float, ToeplitzConvParams> a(stored(c), false), b(stored(c), false);
  auto store = [&](Tensor<float> &to, int64_t first) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t channel = 0; channel < p.channels; ++channel) {
        const int64_t from = first + channel;
        float sum = c.bias ? bias.at(0, from) : 0.0f;
        for (int64_t j = 0; j < c.taps; ++j)
          if (const int64_t before = c.taps - 1 - j; before <= r % p.length)
            sum = std::fma(weight.at(from, j), input.at(r - before, from % read), sum);
        to.at(r, channel) = cuda::fromBf16(cuda::toBf16(sum));
      }
  };
  if (c.x)
    store(a.x, p.xChannel);
  if (c.gateIn && c.conv.gateIn)
    store(a.gateIn, p.gateInChannel);
  if (c.gateOut && c.conv.gateOut)
    store(a.gateOut, p.gateOutChannel);
  auto run = [&](FFTConvTensors<float, ToeplitzConvParams> &o, Tensor<float> &partial, auto params,
                 bool isStored) {
    auto dataOf = [&](Tensor<float> &tensor, int64_t isShort) {
      return isShort && !isStored && tensor.data() ? input.data() : tensor.data();
    };
    const float *x = dataOf(o.x, c.x), *gateIn = dataOf(o.gateIn, c.gateIn),
                *gateOut = dataOf(o.gateOut, c.gateOut), *w = isStored ? nullptr : weight.data(),
                *shift = isStored || !c.bias ? nullptr : bias.data();
    launch<ToeplitzConvForward, float>(of, params, {&o.y}, x, o.filter.data(), o.skip.data(),
                                       gateIn, gateOut, w, shift, o.y.data());
    launch<ToeplitzConvBackward, float>(of, params, {&o.dx, &partial, &o.dGateIn, &o.dGateOut}, x,
                                        o.filter.data(), o.skip.data(), gateIn, gateOut, w, shift,
                                        o.dy.data(), o.dx.data(), partial.data(), o.dGateIn.data(),
                                        o.dGateOut.data());
  };
  Tensor<float> partialA(p.splits, p.taps * p.channels), partialB(p.splits, p.taps * p.channels);
  run(a, partialA, stored, true);
  run(b, partialB, computed, false);
  EXPECT_LT(relativeError(a.y.values(), b.y.values()), 1e-30); // they are numbers
  EXPECT_TRUE(a.y.sameBits(b.y));
  EXPECT_TRUE(a.dx.sameBits(b.dx));
  EXPECT_TRUE(a.dGateIn.sameBits(b.dGateIn));
  EXPECT_TRUE(a.dGateOut.sameBits(b.dGateOut));
  EXPECT_TRUE(partialA.sameBits(partialB));
}

// Alignment and channels as a model has them, odd ones, sequences without a position for some taps,
// and what is not there.
constexpr ShortCase shortCases[] = {{{8, 128, 16, 128, 1, 1, 1, 1, 8, 16}, 3, 16},
                                    {{8, 128, 16, 128, 1, 1, 1, 1, 8, 16}, 3, 24, 0, 1, 1, 1, 8},
                                    {{11, 67, 32, 67, 2, 1, 1, 1, 8, 16}, 3, 0, 1},
                                    {{17, 33, 17, 33, 3}, 2, 0, 1, 1, 1, 1, 5},
                                    {{5, 16, 24, 9, 3, 1, 0, 1, 8}, 3},
                                    {{8, 16, 16, 16, 1, 1, 1, 1, 8, 16}, 3},
                                    {{2, 256, 16, 256, 1, 0, 1, 0, 8}, 3, 8},
                                    {{9, 250, 9, 100, 2}, 1, 9},
                                    {{3, 1, 8, 1, 1, 1, 1, 1, 8}, 3},
                                    {{3, 40, 8, 40, 1, 1, 1, 1, 8}, 3, 0, 1, 1, 0, 0},
                                    {{3, 40, 8, 40, 1, 1, 1, 1, 8}, 3, 0, 1, 0, 1, 0},
                                    {{3, 40, 8, 40, 1, 1, 1, 1, 8}, 2, 0, 0, 0, 0, 1}};
TEST(ToeplitzConv, ComputesAShortConvolution) {
  forEachCase<shortCases>([](const auto &of) { checkShort(of); });
}

TEST(ToeplitzConv, IsChosenWhereItIsFaster) {
  auto chosen = [](int64_t length, bool rounds, int64_t segments = 0, int64_t lanes = 8,
                   int64_t signals = 2, int64_t sharedBytes = 227 << 10) {
    FFTConvParams p{};
    p.length = length, p.hasSegments = segments, p.lanes = lanes;
    return cuda::convAlgorithm(p, signals, rounds, sharedBytes);
  };
  EXPECT_EQ(chosen(256, true), ConvAlgorithm::Toeplitz);
  EXPECT_EQ(chosen(257, true), ConvAlgorithm::Blocks);
  EXPECT_EQ(chosen(128, false), ConvAlgorithm::Blocks);
  EXPECT_EQ(chosen(128, true, 1), ConvAlgorithm::Blocks);
  EXPECT_EQ(chosen(1 << 20, true, 0, 0), ConvAlgorithm::Parts);
  // On a smaller GPU two long signals do not fit.
  EXPECT_EQ(chosen(256, true, 0, 8, 2, 99 << 10), ConvAlgorithm::Blocks);
  EXPECT_EQ(chosen(256, true, 0, 8, 1, 99 << 10), ConvAlgorithm::Toeplitz);
}

} // namespace
#endif
