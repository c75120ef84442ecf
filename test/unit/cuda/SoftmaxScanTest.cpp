//===- SoftmaxScanTest.cpp - the softmax scan's CUDA kernels ----------------===//
#include "codegen/kernels/cuda/SoftmaxScan.cuh"
#include "KernelTest.h"
#include "test/unit/kernels/SoftmaxScanReference.h"

using namespace hybrid;
using namespace hybrid::cuda;
using namespace hybrid::cuda::test;
using namespace hybrid::cpu::test;

namespace {

using Case = SoftmaxScanCase;

template <typename T> Doubles reduced(Tensor<T> &partial, int64_t count, int64_t columns) {
  Doubles sums(static_cast<size_t>(columns), 0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < columns; ++j)
      sums[static_cast<size_t>(j)] += static_cast<double>(partial.at(i, j));
  return sums;
}

constexpr SoftmaxScanParams shapeOf(const Case &c) {
  SoftmaxScanParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.keys = c.keys, p.taps = c.taps;
  p.hasDecay = c.decay, p.hasSegments = c.segments, p.hasState = c.state;
  p.hasFinalState = c.finalState;
  p.kStride = c.keys + 1, p.vStride = c.channels + 3, p.yStride = c.channels + 2;
  p.dvStride = c.channels + 4;
  p.blockRows = c.blockRows ? c.blockRows : c.length;
  p.timeBlocks = ceilDiv(c.length, p.blockRows);
  p.dkStride = softmaxScanKeyBlocks(p, softmaxScanThreads) > 1 ? c.keys : c.keys + 5;
  return p;
}

template <typename T, Case c> void check() {
  SCOPED_TRACE(testing::Message() << "length " << c.length << " channels " << c.channels << " keys "
                                  << c.keys << " taps " << c.taps << " decay " << c.decay
                                  << " segments " << c.segments << " state " << c.state
                                  << c.finalState << " f" << 8 * sizeof(T));
  SoftmaxScanReference r(c);
  constexpr SoftmaxScanParams p = shapeOf(c);
  constexpr int64_t rows = c.batch * c.length, states = c.batch * c.rows(),
                    items = softmaxScanGrid(p).items,
                    blocks = softmaxScanKeyBlocks(p, softmaxScanThreads);
  Tensor<T> k(r.k, rows, c.keys, p.kStride), v(r.v, rows, c.channels, p.vStride),
      taps(r.taps, c.taps, c.keys), decay(r.decay, 1, c.keys),
      initial(r.initial, states, c.width());
  const int32_t *segments = r.segments.data();
  Tensor<T> y(rows, c.channels, p.yStride), lse(rows, c.keys), last(states, c.width());
  auto perBlock = [&](int64_t values) {
    return Tensor<T>(p.timeBlocks * values, c.batch * c.channels);
  };
  constexpr int64_t entryItems = ceilDiv(c.batch * c.channels, softmaxScanEntriesThreads);
  Tensor<T> summaries = perBlock(softmaxScanTailValues + 1),
            entries = perBlock(softmaxScanTailValues),
            gradientSummaries = perBlock(softmaxScanGradientValues + 1),
            gradientEntries = perBlock(softmaxScanGradientValues);
  if constexpr (p.timeBlocks > 1) {
    run("softmaxScanSummary", items, softmaxScanThreads, 0, [&](int64_t item) {
      softmaxScanSummary<T, p>(item, k.data(), v.data(), taps.data(), decay.data(), segments,
                               initial.data(), summaries.data());
    });
    run("softmaxScanEntries", entryItems, softmaxScanEntriesThreads, 0, [&](int64_t item) {
      softmaxScanEntries<T, p>(item, decay.data(), initial.data(), summaries.data(),
                               entries.data());
    });
  }
  run("softmaxScanForward", items, softmaxScanThreads, 0, [&](int64_t item) {
    softmaxScanForward<T, p>(item, k.data(), v.data(), taps.data(), decay.data(), segments,
                             initial.data(), y.data(), lse.data(), last.data(), entries.data());
  });
  EXPECT_TRUE(y.guardsIntact() && lse.guardsIntact() && last.guardsIntact());
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
      denominators(r.lse, rows, c.keys), final(r.last, states, c.width()),
      dFinal(r.dFinal, states, c.width());
  Tensor<T> dk(blocks * rows, c.keys, p.dkStride), dv(rows, c.channels, p.dvStride),
      dInitial(states, c.width()), dTaps(p.timeBlocks * blocks * c.batch, c.taps * c.keys),
      dDecay(p.timeBlocks * blocks * c.batch, c.keys), dWeights(blocks, states * c.keys);
  if constexpr (p.timeBlocks > 1) {
    run("softmaxScanGradientSummary", items, softmaxScanThreads, 0, [&](int64_t item) {
      softmaxScanGradientSummary<T, p>(item, decay.data(), segments, output.data(),
                                       denominators.data(), dy.data(), final.data(), dFinal.data(),
                                       gradientSummaries.data());
    });
    run("softmaxScanGradientEntries", entryItems, softmaxScanEntriesThreads, 0, [&](int64_t item) {
      softmaxScanGradientEntries<T, p>(item, decay.data(), gradientSummaries.data(),
                                       gradientEntries.data());
    });
  }
  run("softmaxScanBackward", items, softmaxScanThreads, SoftmaxScanBackward::onCuda<T>(p).bytes,
      [&](int64_t item) {
        softmaxScanBackward<T, p>(item, k.data(), v.data(), taps.data(), decay.data(), segments,
                                  initial.data(), output.data(), denominators.data(), dy.data(),
                                  final.data(), dFinal.data(), dk.data(), dv.data(),
                                  dInitial.data(), dTaps.data(), dDecay.data(), dWeights.data(),
                                  gradientEntries.data());
      });
  for (Tensor<T> *tensor : {&dk, &dv, &dInitial, &dTaps, &dDecay, &dWeights, &summaries, &entries,
                            &gradientSummaries, &gradientEntries})
    EXPECT_TRUE(tensor->guardsIntact());
  bound *= 4;
  Doubles keyGradient(r.dk.size(), 0);
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < c.keys; ++j)
        keyGradient[static_cast<size_t>(i * c.keys + j)] +=
            static_cast<double>(dk.at(block * rows + i, j));
  EXPECT_LT(relativeError(keyGradient, r.dk), bound);
  EXPECT_LT(relativeError(dv.values(), r.dv), bound);
  if (c.taps) {
    EXPECT_LT(
        relativeError(reduced(dTaps, p.timeBlocks * blocks * c.batch, c.taps * c.keys), r.dTaps),
        bound);
  }
  if (c.decay) {
    EXPECT_LT(relativeError(reduced(dDecay, p.timeBlocks * blocks * c.batch, c.keys), r.dDecay),
              bound);
  }
  if (c.state) {
    Doubles weights = reduced(dWeights, blocks, states * c.keys), gradient = dInitial.values();
    for (int64_t i = 0; i < states; ++i)
      for (int64_t j = 0; j < c.keys; ++j)
        gradient[static_cast<size_t>(i * c.width() + c.channels + j)] =
            weights[static_cast<size_t>(i * c.keys + j)];
    EXPECT_LT(relativeError(gradient, r.dInitial), bound);
  }
}

template <typename T> struct SoftmaxScan : testing::Test {};
TYPED_TEST_SUITE(SoftmaxScan, Scalars);

TYPED_TEST(SoftmaxScan, AgreesForEveryShape) {
  check<TypeParam, Case{.length = 1, .channels = 1, .keys = 1, .taps = 0}>();
  check<TypeParam, Case{.length = 40, .channels = 33, .keys = 33, .taps = 1}>();
  check<TypeParam, Case{.length = 5, .channels = 12, .keys = 3, .taps = 7}>();
  check<TypeParam, Case{.length = 19, .channels = 80, .keys = 2, .taps = 2}>();
  check<TypeParam, Case{.length = 16, .channels = 20, .keys = 1, .taps = 0}>();
}
TYPED_TEST(SoftmaxScan, AgreesWithStatesAndSegments) {
  check<TypeParam,
        Case{.length = 13, .taps = 0, .segments = true, .state = true, .finalState = true}>();
  check<TypeParam, Case{.length = 13, .segments = true, .state = true, .finalState = true}>();
  check<TypeParam, Case{.length = 2, .taps = 4, .state = true, .finalState = true}>();
  check<TypeParam, Case{.length = 13, .taps = 4, .segments = true, .finalState = true}>();
  check<TypeParam, Case{.length = 13,
                        .channels = 20,
                        .keys = 1,
                        .taps = 4,
                        .decay = false,
                        .segments = true,
                        .state = true,
                        .finalState = true}>();
}
TYPED_TEST(SoftmaxScan, AgreesWhenDividedOverTime) {
  check<TypeParam, Case{.length = 40, .blockRows = 16}>();
  check<TypeParam, Case{.length = 37,
                        .taps = 0,
                        .segments = true,
                        .state = true,
                        .finalState = true,
                        .blockRows = 8}>();
  check<TypeParam,
        Case{.length = 33, .taps = 1, .state = true, .finalState = true, .blockRows = 8}>();
  check<TypeParam, Case{.length = 40,
                        .channels = 40,
                        .keys = 1,
                        .taps = 4,
                        .segments = true,
                        .state = true,
                        .finalState = true,
                        .blockRows = 8}>();
  check<TypeParam,
        Case{.length = 30, .taps = 11, .state = true, .finalState = true, .blockRows = 8}>();
}
TYPED_TEST(SoftmaxScan, StaysExactForLargeKeys) {
  check<TypeParam, Case{.taps = 0, .state = true, .finalState = true, .keyScale = 100}>();
  check<TypeParam, Case{.taps = 3, .state = true, .finalState = true, .keyScale = 100}>();
  check<TypeParam, Case{.state = true, .keyScale = 100, .blockRows = 8}>();
}

} // namespace
