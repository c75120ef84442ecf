//===- SoftmaxScanTest.cpp - the softmax scan against dense softmax -------===//
#include "codegen/kernels/SoftmaxScan.h"
#include "SoftmaxScanReference.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

HYBRID_DECLARE_KERNEL(softmax_scan_forward, SoftmaxScanParams)
HYBRID_DECLARE_KERNEL(softmax_scan_backward, SoftmaxScanParams)

namespace {

using Case = SoftmaxScanCase;
using Reference = SoftmaxScanReference;

template <typename T> Doubles reduced(Tensor<T> &partial, int64_t count, int64_t columns) {
  Doubles sums(static_cast<size_t>(columns), 0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < columns; ++j)
      sums[static_cast<size_t>(j)] += static_cast<double>(partial.at(i, j));
  return sums;
}

template <typename T> void check(const Case &c) {
  SCOPED_TRACE(testing::Message() << "length " << c.length << " channels " << c.channels << " keys "
                                  << c.keys << " taps " << c.taps << " decay " << c.decay
                                  << " segments " << c.segments << " state " << c.state
                                  << c.finalState);
  Reference r(c);
  SoftmaxScanParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.keys = c.keys, p.taps = c.taps;
  p.hasDecay = c.decay, p.hasSegments = c.segments, p.hasState = c.state;
  p.hasFinalState = c.finalState;
  p.kStride = c.keys + 1, p.vStride = c.channels + 3, p.yStride = c.channels + 2;
  p.dvStride = c.channels + 4;
  int64_t rows = c.batch * c.length, states = c.batch * c.rows();
  Tensor<T> k(r.k, rows, c.keys, p.kStride), v(r.v, rows, c.channels, p.vStride);
  Tensor<T> taps(r.taps, c.taps, c.keys), decay(r.decay, 1, c.keys);
  Tensor<T> initial(r.initial, states, c.width());
  std::vector<void *> operands{k.data(),
                               v.data(),
                               c.taps ? taps.data() : nullptr,
                               c.decay ? decay.data() : nullptr,
                               c.segments ? r.segments.data() : nullptr,
                               c.state ? initial.data() : nullptr};
  auto with = [&](std::vector<void *> more) {
    more.insert(more.begin(), operands.begin(), operands.end());
    return more;
  };
  Tensor<T> y(rows, c.channels, p.yStride), y2 = y, lse(rows, c.keys), lse2 = lse;
  Tensor<T> last(states, c.width()), last2 = last;
  int64_t grid = c.batch * softmaxScanBlocks(p, lanes<T>);
  callWhole(softmax_scan_forward<T>, grid,
            with({y.data(), lse.data(), c.finalState ? last.data() : nullptr}), p);
  callInPieces(softmax_scan_forward<T>, grid,
               with({y2.data(), lse2.data(), c.finalState ? last2.data() : nullptr}), p);
  EXPECT_TRUE(y.sameBits(y2) && lse.sameBits(lse2) && last.sameBits(last2));
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

  Tensor<T> output(r.y, rows, c.channels, p.yStride), dy(r.dy, rows, c.channels, p.yStride);
  Tensor<T> denominators(r.lse, rows, c.keys), final(r.last, states, c.width()),
      dFinal(r.dFinal, states, c.width());
  int64_t blocks = softmaxScanKeyBlocks(p, lanes<T>);
  p.dkStride = blocks > 1 ? c.keys : c.keys + 5;
  struct Gradients {
    Tensor<T> dk, dv, dInitial, taps, decay, weights;
  };
  Gradients g{Tensor<T>(blocks * rows, c.keys, p.dkStride),
              Tensor<T>(rows, c.channels, p.dvStride),
              Tensor<T>(states, c.width()),
              Tensor<T>(blocks * c.batch, c.taps * c.keys),
              Tensor<T>(blocks * c.batch, c.keys),
              Tensor<T>(blocks, states * c.keys)};
  Gradients split = g;
  auto backward = [&](Gradients &to) {
    return with({output.data(), denominators.data(), dy.data(),
                 c.finalState ? final.data() : nullptr, c.finalState ? dFinal.data() : nullptr,
                 to.dk.data(), to.dv.data(), c.state ? to.dInitial.data() : nullptr, to.taps.data(),
                 to.decay.data(), to.weights.data()});
  };
  int64_t scratch = scratchOf<SoftmaxScanBackward, T>(p);
  callWhole(softmax_scan_backward<T>, grid, backward(g), p, scratch);
  callInPieces(softmax_scan_backward<T>, grid, backward(split), p, scratch);
  EXPECT_TRUE(g.dk.sameBits(split.dk) && g.dv.sameBits(split.dv) &&
              g.dInitial.sameBits(split.dInitial) && g.taps.sameBits(split.taps) &&
              g.decay.sameBits(split.decay) && g.weights.sameBits(split.weights));
  for (Tensor<T> *tensor : {&g.dk, &g.dv, &g.dInitial, &g.taps, &g.decay, &g.weights})
    EXPECT_TRUE(tensor->guardsIntact());
  bound *= 4;
  Doubles dk(r.dk.size(), 0);
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < c.keys; ++j)
        dk[static_cast<size_t>(i * c.keys + j)] +=
            static_cast<double>(g.dk.at(block * rows + i, j));
  EXPECT_LT(relativeError(dk, r.dk), bound);
  EXPECT_LT(relativeError(g.dv.values(), r.dv), bound);
  if (c.taps) {
    EXPECT_LT(relativeError(reduced(g.taps, blocks * c.batch, c.taps * c.keys), r.dTaps), bound);
  }
  if (c.decay) {
    EXPECT_LT(relativeError(reduced(g.decay, blocks * c.batch, c.keys), r.dDecay), bound);
  }
  if (c.state) {
    Doubles weights = reduced(g.weights, blocks, states * c.keys), dInitial = g.dInitial.values();
    for (int64_t i = 0; i < states; ++i)
      for (int64_t j = 0; j < c.keys; ++j)
        dInitial[static_cast<size_t>(i * c.width() + c.channels + j)] =
            weights[static_cast<size_t>(i * c.keys + j)];
    EXPECT_LT(relativeError(dInitial, r.dInitial), bound);
  }
}

template <typename T> struct SoftmaxScan : testing::Test {};
TYPED_TEST_SUITE(SoftmaxScan, Scalars);

TYPED_TEST(SoftmaxScan, AgreesForEveryShape) {
  for (int64_t length : {1, 2, 5, 40})
    for (int64_t taps : {0, 1, 2, 7})
      for (auto [channels, keys] : {std::pair(1, 1), std::pair(16, 16), std::pair(19, 19),
                                    std::pair(12, 3), std::pair(40, 2), std::pair(20, 1)})
        check<TypeParam>({.length = length, .channels = channels, .keys = keys, .taps = taps});
}
TYPED_TEST(SoftmaxScan, AgreesWithStatesAndSegments) {
  for (int mask = 0; mask < 16; ++mask)
    for (int64_t length : {1, 2, 13})
      for (int64_t taps : {0, 1, 4})
        for (int64_t keys : {20, 1})
          check<TypeParam>({.length = length,
                            .channels = 20,
                            .keys = keys,
                            .taps = taps,
                            .decay = (mask & 1) != 0,
                            .segments = (mask & 2) != 0,
                            .state = (mask & 4) != 0,
                            .finalState = (mask & 8) != 0});
}
TYPED_TEST(SoftmaxScan, StaysExactForLargeKeys) {
  for (int64_t taps : {0, 1, 3})
    check<TypeParam>({.taps = taps, .state = true, .finalState = true, .keyScale = 100});
}
// A state that holds nothing leaves no trace, not even in gradients.
TYPED_TEST(SoftmaxScan, EmptyStateIsNone) {
  using T = TypeParam;
  constexpr int64_t length = 2, taps = 4;
  SoftmaxScanParams p{};
  p.batch = 1, p.length = length, p.channels = p.keys = 1, p.taps = taps;
  p.hasState = p.hasFinalState = 1;
  p.kStride = p.vStride = p.yStride = p.dkStride = p.dvStride = 1;
  Tensor<T> k({1, 2}, length, 1), v({3, 5}, length, 1), u(Doubles(taps, 0), taps, 1);
  Doubles none;
  for (int64_t row = 0; row < taps; ++row)
    none.insert(none.end(), {0, -1e30});
  Tensor<T> state(none, taps, 2), y(length, 1), lse(length, 1), last(taps, 2);
  callWhole(softmax_scan_forward<T>, 1,
            {k.data(), v.data(), u.data(), nullptr, nullptr, state.data(), y.data(), lse.data(),
             last.data()},
            p);
  double weight = 1 / (1 + std::exp(1.0));
  EXPECT_LT(relativeError(y.values(), {3, 3 * weight + 5 * (1 - weight)}), tolerance<T>(1e-6));
  Tensor<T> dk(length, 1), dv(length, 1), dState(taps, 2), dTaps(taps, 1), dWeights(taps, 1);
  Tensor<T> dy({1, 1}, length, 1), dLast(Doubles(taps * 2, 1), taps, 2);
  callWhole(softmax_scan_backward<T>, 1,
            {k.data(), v.data(), u.data(), nullptr, nullptr, state.data(), y.data(), lse.data(),
             dy.data(), last.data(), dLast.data(), dk.data(), dv.data(), dState.data(),
             dTaps.data(), nullptr, dWeights.data()},
            p, scratchOf<SoftmaxScanBackward, T>(p));
  for (Tensor<T> *tensor : {&dk, &dv, &dTaps, &dWeights})
    for (double value : tensor->values())
      EXPECT_TRUE(std::isfinite(value));
  for (int64_t row = 0; row < taps; ++row)
    EXPECT_TRUE(std::isfinite(static_cast<double>(dState.at(row, 0))));
}

} // namespace
