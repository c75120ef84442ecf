//===- ShortConvTest.cpp - short convolution in CUDA against the direct sum ===//
#include "codegen/kernels/cuda/ShortConv.cuh"
#include "test/unit/cuda/KernelTest.h"
#include "test/unit/kernels/ShortConvReference.h"

using namespace hybrid;
using namespace hybrid::cuda;
using namespace hybrid::cuda::test;
using hybrid::cpu::test::Doubles;
using hybrid::cpu::test::relativeError;
using hybrid::cpu::test::ShortConvCase;
using hybrid::cpu::test::ShortConvReference;
using hybrid::cpu::test::Tensor;
using hybrid::cpu::test::tolerance;

namespace {

constexpr ShortConvParams paramsOf(const ShortConvCase &c) {
  return {c.batch,        c.length,       c.channels,    c.taps, c.channels + 4,
          c.channels + 1, c.channels + 2, c.rowsPerItem, c.bias, c.segments,
          c.state,        c.finalState,   c.silu};
}

template <typename T, ShortConvParams P> void check() {
  SCOPED_TRACE(testing::Message() << "length " << P.length << " channels " << P.channels << " taps "
                                  << P.taps << " rows " << P.rowsPerItem << " segments "
                                  << P.hasSegments << " state " << P.hasState << P.hasFinalState
                                  << " silu " << P.activation);
  ShortConvCase c{P.batch,
                  P.length,
                  P.channels,
                  P.taps,
                  P.rowsPerItem,
                  P.hasBias != 0,
                  P.hasSegments != 0,
                  P.hasState != 0,
                  P.hasFinalState != 0,
                  P.activation != 0};
  ShortConvReference r(c);
  int64_t rows = c.batch * c.length, states = c.batch * (c.taps - 1);
  int64_t items = c.batch * ceilDiv(c.length, c.rowsPerItem), grid = items * channelBlocks(P);
  Tensor<T> x(r.x, rows, c.channels, P.xStride), w(r.w, c.channels, c.taps), b(r.b, 1, c.channels);
  Tensor<T> initial(r.initial, states, c.channels), y(rows, c.channels, P.yStride);
  Tensor<T> last(states, c.channels);
  const int32_t *segments = c.segments ? r.segments.data() : nullptr;
  const T *state = c.state ? initial.data() : nullptr, *bias = c.bias ? b.data() : nullptr;
  run("shortConvForward", grid, threads(P), 0, [&](int64_t item) {
    shortConvForward<T, P>(item, x.data(), w.data(), bias, segments, state,
                           c.finalState ? last.data() : nullptr, y.data());
  });
  EXPECT_TRUE(y.guardsIntact() && last.guardsIntact());
  double bound = tolerance<T>(1e-6);
  EXPECT_LT(relativeError(y.values(), r.y), bound);
  if (c.finalState) {
    EXPECT_EQ(last.values(), r.last);
  }

  Tensor<T> dy(r.dy, rows, c.channels, P.yStride), dFinal(r.dFinal, states, c.channels);
  Tensor<T> dx(rows, c.channels, P.dxStride), dInitial(states, c.channels),
      partial(items, (c.taps + 1) * c.channels);
  run("shortConvBackward", grid, threads(P), 0, [&](int64_t item) {
    shortConvBackward<T, P>(item, x.data(), w.data(), segments, state, dy.data(),
                            c.finalState ? dFinal.data() : nullptr,
                            c.state ? dInitial.data() : nullptr, partial.data(), bias, dx.data());
  });
  EXPECT_TRUE(dx.guardsIntact() && dInitial.guardsIntact() && partial.guardsIntact());
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

template <typename T, int mask, int64_t length, int64_t taps, int64_t rows> void checkMask() {
  check<T, paramsOf({.length = length,
                     .taps = taps,
                     .rowsPerItem = rows,
                     .bias = (mask & 1) != 0,
                     .segments = (mask & 2) != 0,
                     .state = (mask & 4) != 0,
                     .finalState = (mask & 8) != 0,
                     .silu = (mask & 16) != 0})>();
}

template <typename T> struct CudaShortConv : testing::Test {};
TYPED_TEST_SUITE(CudaShortConv, hybrid::cpu::test::Scalars);

TYPED_TEST(CudaShortConv, AgreesForEveryShape) {
  check<TypeParam, paramsOf({.length = 1, .channels = 1, .taps = 1})>();
  check<TypeParam, paramsOf({.length = 2, .channels = 48, .taps = 3})>();
  check<TypeParam, paramsOf({.length = 33, .channels = 17, .taps = 4})>();
  check<TypeParam, paramsOf({.length = 127, .channels = 300, .taps = 3})>();
  check<TypeParam, paramsOf({.length = 127, .channels = 8, .taps = 8, .rowsPerItem = 32})>();
  check<TypeParam, paramsOf({.length = 33, .channels = 17, .taps = 9})>();
  check<TypeParam, paramsOf({.length = 10, .channels = 8, .taps = 40})>();
}
TYPED_TEST(CudaShortConv, AgreesWithStatesSegmentsAndActivation) {
  checkMask<TypeParam, 6, 24, 4, 24>();
  checkMask<TypeParam, 15, 24, 4, 5>();
  checkMask<TypeParam, 12, 3, 4, 2>();
  checkMask<TypeParam, 14, 1, 4, 2>();
  checkMask<TypeParam, 16, 24, 3, 10>();
  checkMask<TypeParam, 29, 24, 4, 24>();
  checkMask<TypeParam, 31, 24, 4, 5>();
  checkMask<TypeParam, 31, 24, 20, 5>();
  checkMask<TypeParam, 20, 3, 20, 2>();
  checkMask<TypeParam, 10, 24, 20, 24>();
}

} // namespace
