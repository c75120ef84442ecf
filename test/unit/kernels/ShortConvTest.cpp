//===- ShortConvTest.cpp - short convolution against the direct sum -------===//
#include "codegen/kernels/ShortConv.h"
#include "ShortConvReference.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

HYBRID_DECLARE_KERNEL(short_conv_forward, ShortConvParams)
HYBRID_DECLARE_KERNEL(short_conv_backward, ShortConvParams)

namespace {

using Case = ShortConvCase;
using Reference = ShortConvReference;

template <typename T> void check(const Case &c) {
  SCOPED_TRACE(testing::Message() << "length " << c.length << " channels " << c.channels << " taps "
                                  << c.taps << " rows " << c.rowsPerItem << " segments "
                                  << c.segments << " state " << c.state << c.finalState << " silu "
                                  << c.silu);
  Reference r(c);
  ShortConvParams p{};
  p.batch = c.batch, p.length = c.length, p.channels = c.channels, p.taps = c.taps;
  p.xStride = c.channels + 4, p.yStride = c.channels + 1, p.dxStride = c.channels + 2;
  p.rowsPerItem = c.rowsPerItem, p.hasBias = c.bias, p.hasSegments = c.segments;
  p.hasState = c.state, p.hasFinalState = c.finalState, p.activation = c.silu;
  int64_t rows = c.batch * c.length, states = c.batch * (c.taps - 1);
  int64_t grid = c.batch * ceilDiv(c.length, c.rowsPerItem);
  Tensor<T> x(r.x, rows, c.channels, p.xStride), w(r.w, c.channels, c.taps), b(r.b, 1, c.channels);
  Tensor<T> initial(r.initial, states, c.channels), y(rows, c.channels, p.yStride), y2 = y;
  Tensor<T> last(states, c.channels), last2 = last;
  void *segments = c.segments ? r.segments.data() : nullptr;
  void *state = c.state ? initial.data() : nullptr, *bias = c.bias ? b.data() : nullptr;
  auto forward = [&](Tensor<T> &out, Tensor<T> &final) -> std::vector<void *> {
    return {x.data(),  w.data(), bias, segments, state, c.finalState ? final.data() : nullptr,
            out.data()};
  };
  callWhole(short_conv_forward<T>, grid, forward(y, last), p);
  callInPieces(short_conv_forward<T>, grid, forward(y2, last2), p);
  EXPECT_TRUE(y.sameBits(y2) && last.sameBits(last2) && y.guardsIntact() && last.guardsIntact());
  double bound = tolerance<T>(1e-6);
  EXPECT_LT(relativeError(y.values(), r.y), bound);
  if (c.finalState) {
    EXPECT_EQ(last.values(), r.last);
  }

  Tensor<T> dy(r.dy, rows, c.channels, p.yStride), dFinal(r.dFinal, states, c.channels);
  struct Gradients {
    Tensor<T> dx, dInitial, partial;
  };
  auto backward = [&](Gradients &g) -> std::vector<void *> {
    return {x.data(),
            w.data(),
            segments,
            state,
            dy.data(),
            c.finalState ? dFinal.data() : nullptr,
            c.state ? g.dInitial.data() : nullptr,
            g.partial.data(),
            bias,
            g.dx.data()};
  };
  Gradients g{Tensor<T>(rows, c.channels, p.dxStride), Tensor<T>(states, c.channels),
              Tensor<T>(grid, (c.taps + 1) * c.channels)};
  Gradients split = g;
  callWhole(short_conv_backward<T>, grid, backward(g), p);
  callInPieces(short_conv_backward<T>, grid, backward(split), p);
  EXPECT_TRUE(g.dx.sameBits(split.dx) && g.dInitial.sameBits(split.dInitial) &&
              g.partial.sameBits(split.partial));
  EXPECT_TRUE(g.dx.guardsIntact() && g.dInitial.guardsIntact() && g.partial.guardsIntact());
  EXPECT_LT(relativeError(g.dx.values(), r.dx), bound);
  if (c.state) {
    EXPECT_LT(relativeError(g.dInitial.values(), r.dInitial), bound);
  }
  Doubles dw(r.dw.size(), 0), db(r.db.size(), 0);
  for (int64_t item = 0; item < grid; ++item)
    for (int64_t ch = 0; ch < c.channels; ++ch) {
      for (int64_t j = 0; j < c.taps; ++j)
        dw[static_cast<size_t>(ch * c.taps + j)] +=
            static_cast<double>(g.partial.at(item, j * c.channels + ch));
      db[static_cast<size_t>(ch)] +=
          static_cast<double>(g.partial.at(item, c.taps * c.channels + ch));
    }
  EXPECT_LT(relativeError(dw, r.dw), bound * 2);
  EXPECT_LT(relativeError(db, r.db), bound * 2);
}

template <typename T> struct ShortConv : testing::Test {};
TYPED_TEST_SUITE(ShortConv, Scalars);

TYPED_TEST(ShortConv, AgreesForEveryShape) {
  for (int64_t length : {1, 2, 3, 10, 33, 127})
    for (int64_t taps : {1, 2, 3, 4, 5, 16, 17, 40})
      for (int64_t channels : {1, 8, 17, 48})
        check<TypeParam>({.length = length, .channels = channels, .taps = taps});
}
TYPED_TEST(ShortConv, AgreesForManyChannels) {
  for (int64_t taps : {1, 3, 16, 17})
    for (bool silu : {false, true})
      check<TypeParam>(
          {.length = 70, .channels = 1100, .taps = taps, .rowsPerItem = 32, .silu = silu});
}
TYPED_TEST(ShortConv, AgreesWithStatesSegmentsAndActivation) {
  for (int mask = 0; mask < 32; ++mask)
    for (int64_t length : {1, 3, 24})
      for (int64_t taps : {1, 4, 20})
        for (int64_t rows : {2, 24})
          check<TypeParam>({.length = length,
                            .taps = taps,
                            .rowsPerItem = rows,
                            .bias = (mask & 1) != 0,
                            .segments = (mask & 2) != 0,
                            .state = (mask & 4) != 0,
                            .finalState = (mask & 8) != 0,
                            .silu = (mask & 16) != 0});
}

} // namespace
