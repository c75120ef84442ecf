//===- ProductChainTest.cpp - chains of products against loops ---------------===//
//
// On CUDA; elsewhere ops run one by one.
//
//===----------------------------------------------------------------------===//
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/ProductChain.cuh"
#include "test/kernels/RoundedTensor.h"
#include <cmath>

using namespace hybrid;
using namespace hybrid::test;

namespace {

/// A function of so many products: of two a SwiGLU's, of three one with three results, as its
/// gradient has.
template <int64_t firsts> struct Gate {
  template <typename T> static void apply(const T *x, T *y) {
    const T a = x[0];
    if constexpr (firsts == 1) {
      y[0] = a * a;
    } else if constexpr (firsts == 2) {
      y[0] = a / (1 + std::exp(-a)) * x[1];
    } else {
      y[0] = a * x[2], y[1] = x[1] * x[2] + 1, y[2] = a * x[1];
    }
  }
};

} // namespace

template <> struct hybrid::test::Function<hybrid::ProductChain> {
  template <typename T, auto P, typename... Buffers>
  static void run(int64_t item, Buffers... buffers) {
    hybrid::cuda::productChain<T, P, Gate<P.firsts>>(item, buffers...);
  }
};

namespace {

/// SwiGLU forward (two products of one input), its gradient (three of two inputs, of which two
/// weights are read again), and a multilayer perceptron (one).
struct Case {
  int64_t firsts, rows, inner, inputs, outputs, rowTile, chunk, columnWarps;
  /// Of the first product, of the last of the first ones, of the second ones.
  int64_t transposed = 0, lastTransposed = 0, secondTransposed = 0;
  bool saves = false, shares = false;
};

constexpr ProductChainParams paramsOf(const Case &c) {
  ProductChainParams p{};
  p.rows = c.rows, p.inner = c.inner, p.outputs = c.outputs;
  p.inputs0 = c.inputs, p.xStride0 = c.inputs + 8; // parts of wider tensors
  p.firsts = c.firsts, p.seconds = p.results = 1;
  p.transposed0 = c.transposed, p.stride0 = (c.transposed ? c.inner : c.inputs) + 8;
  p.transposed1 = c.transposed, p.stride1 = p.stride0;
  p.secondTransposed0 = c.secondTransposed;
  p.secondStride0 = (c.secondTransposed ? c.outputs : c.inner) + 16;
  if (c.firsts == 3) {
    p.inputs1 = c.inputs / 2, p.xStride1 = p.inputs1, p.input2 = 1;
    p.transposed2 = c.lastTransposed, p.stride2 = c.lastTransposed ? c.inner : p.inputs1;
    p.seconds = 2, p.results = 3;
    p.secondTransposed1 = c.secondTransposed, p.secondStride1 = p.secondStride0;
    if (c.shares) {
      p.shared0 = 2, p.secondStride0 = p.stride1;
      p.shared1 = 1, p.secondStride1 = p.stride0;
    }
  }
  if (c.saves) {
    p.savedStride0 = c.inner * 2;
    if (c.firsts == 3)
      p.savedStride1 = c.inner * 2, p.savedStride2 = c.inner + 8;
  }
  p.yStride = c.outputs + 3;
  p.rowTile = c.rowTile, p.chunk = c.chunk, p.columnWarps = c.columnWarps;
  return p;
}

double rounded(double value) {
  return static_cast<double>(cuda::fromBf16(cuda::toBf16(static_cast<float>(value))));
}

template <typename Of> void check(const Of &of) {
  const Case c = of.value;
  const ProductChainParams p = paramsOf(c);
  SCOPED_TRACE(testing::Message() << c.firsts << " products, " << c.rows << " rows, " << c.inner
                                  << " in tiles of " << c.rowTile << "x" << c.chunk);
  auto at = [](const Doubles &values, int64_t i) { return values[static_cast<size_t>(i)]; };
  const RoundedTensor x[] = {{c.rows * p.xStride0, 1}, {c.rows * p.xStride1, 2}};
  std::vector<RoundedTensor> first, second;
  for (int64_t i = 0; i < p.firsts; ++i) {
    const auto of = cuda::firstOf(p, i);
    first.emplace_back((of.transposed ? cuda::inputOf(p, of.input).columns : c.inner) * of.stride,
                       static_cast<unsigned>(3 + i));
  }
  for (int64_t j = 0; j < p.seconds; ++j) {
    const auto of = cuda::secondOf(p, j);
    if (of.shared)
      second.push_back(first[static_cast<size_t>(of.shared - 1)]);
    else
      second.emplace_back((of.transposed ? c.inner : c.outputs) * of.stride,
                          static_cast<unsigned>(6 + j));
  }
  Doubles y(static_cast<size_t>(c.rows * c.outputs), 0), made[3];
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t n = 0; n < c.inner; ++n) {
      double given[3] = {}, results[3] = {};
      for (int64_t i = 0; i < p.firsts; ++i) {
        const auto of = cuda::firstOf(p, i);
        const auto input = cuda::inputOf(p, of.input);
        for (int64_t k = 0; k < input.columns; ++k)
          given[i] += at(x[of.input].values, r * input.stride + k) *
                      at(first[static_cast<size_t>(i)].values,
                         of.transposed ? k * of.stride + n : n * of.stride + k);
      }
      if (p.firsts == 1)
        Gate<1>::apply(given, results);
      else if (p.firsts == 2)
        Gate<2>::apply(given, results);
      else
        Gate<3>::apply(given, results);
      for (int64_t k = 0; k < p.results; ++k)
        made[k].push_back(results[k]);
      for (int64_t j = 0; j < p.seconds; ++j) {
        const auto of = cuda::secondOf(p, j);
        for (int64_t o = 0; o < c.outputs; ++o)
          y[static_cast<size_t>(r * c.outputs + o)] +=
              rounded(results[j]) * at(second[static_cast<size_t>(j)].values,
                                       of.transposed ? n * of.stride + o : o * of.stride + n);
      }
    }
  Tensor<float> result(c.rows, c.outputs, p.yStride);
  std::vector<std::vector<cuda::bf16>> saved(3);
  const cuda::bf16 untouched = cuda::toBf16(-77.0f);
  auto savedTo = [&](int64_t k) -> cuda::bf16 * {
    const int64_t stride = cuda::savedStrideOf(p, k);
    saved[static_cast<size_t>(k)].assign(static_cast<size_t>(c.rows * stride), untouched);
    return stride ? saved[static_cast<size_t>(k)].data() : nullptr;
  };
  auto memoryOf = [](std::vector<RoundedTensor> &tensors, size_t i) {
    return i < tensors.size() ? tensors[i].memory.data() : nullptr;
  };
  launch<ProductChain, float>(
      of, [](const Case &c) { return paramsOf(c); }, {&result}, x[0].memory.data(),
      x[1].memory.data(), memoryOf(first, 0), memoryOf(first, 1), memoryOf(first, 2),
      memoryOf(second, 0), memoryOf(second, 1), savedTo(0), savedTo(1), savedTo(2), result.data());
  EXPECT_LT(relativeError(result.values(), y), 3e-4); // where rounding went the other way
  for (int64_t k = 0; k < 3; ++k)
    if (const int64_t stride = cuda::savedStrideOf(p, k)) {
      Doubles values;
      for (int64_t r = 0; r < c.rows; ++r)
        for (int64_t n = 0; n < stride; ++n) {
          const cuda::bf16 value =
              saved[static_cast<size_t>(k)][static_cast<size_t>(r * stride + n)];
          if (n < c.inner)
            values.push_back(static_cast<double>(cuda::fromBf16(value)));
          else
            EXPECT_EQ(value.bits, untouched.bits) << "beside result " << k;
        }
      EXPECT_LT(relativeError(values, made[k]), 5e-3) << "result " << k;
    }
}

constexpr Case cases[] = {
    {2, 256, 128, 128, 128, 128, 64, 2},
    {2, 150, 192, 64, 64, 64, 64, 2, 0, 0, 0, true},
    {1, 33, 96, 48, 64, 32, 32, 2, 1, 0, 1, true},
    {3, 128, 128, 128, 128, 128, 64, 4, 0, 1, 1, true, true},
    {3, 200, 64, 64, 128, 64, 32, 2, 1, 0, 0, true},
    {3, 70, 64, 64, 64, 32, 32, 2, 0, 0, 1},
    {2, 64, 128, 32, 64, 64, 64, 4, 1},
    // By warpgroups: one and two of them, all orders of weights, rows that are not there.
    {3, 256, 192, 128, 128, 128, 64, 2, 0, 1, 1, true, true},
    {3, 150, 128, 128, 64, 64, 64, 2, 1, 0, 0, true},
    {3, 100, 64, 128, 128, 64, 64, 2, 1, 1, 1},
    {1, 70, 64, 192, 64, 64, 64, 2, 0, 0, 1, true},
    {2, 128, 128, 64, 128, 64, 64, 2, 1, 0, 0},
};
TEST(ProductChains, MultiplyWhatProductsMade) {
  forEachCase<cases>([](const auto &of) { check(of); });
}

/// Blocks have room, and there is one for most multiprocessors where rows allow.
TEST(ProductChains, FitTheSharedMemoryOfABlock) {
  Case swiglu{3, 16384, 512, 128, 128, 0, 0, 0, 0, 1, 1, true, true};
  for (int64_t bytes : {99 << 10, 163 << 10, 227 << 10})
    for (int64_t rows : {4096, 16384}) {
      swiglu.rows = rows;
      const auto p = ProductChainTiles::onCuda<float>(paramsOf(swiglu), bytes);
      ASSERT_NE(p.rowTile, 0) << bytes;
      EXPECT_LE(cuda::productChainShared(p), bytes);
      EXPECT_GE(ceilDiv(rows, p.rowTile), 100);
    }
  EXPECT_EQ(ProductChainTiles::onCuda<float>(paramsOf(swiglu), 16 << 10).rowTile, 0);
  // Two warpgroups where sizes are theirs. Otherwise with a second input no warp has its rows in
  // registers, and there are more warps.
  auto threadsOf = [](const Case &of) {
    return cuda::threads(ProductChainTiles::onCuda<float>(paramsOf(of), 227 << 10));
  };
  EXPECT_EQ(threadsOf(swiglu), 256);
  swiglu.inputs = 96;
  EXPECT_EQ(threadsOf(swiglu), 512);
  swiglu.firsts = 2;
  EXPECT_EQ(threadsOf(swiglu), 256);
}

} // namespace
#endif
