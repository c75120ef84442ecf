//===- MatmulTest.cpp - matrix products against the definition ---------------===//
#include "runtime/cpu/Matmul.h"
#include "runtime/CpuFeatures.h"
#include "runtime/cpu/Team.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace hybrid::rt;

namespace {

template <typename T> std::vector<T> randomValues(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> range(-1, 1);
  std::vector<T> values(count);
  for (T &value : values)
    value = range(random);
  return values;
}

/// Runs the product and compares every element, and that nothing between the rows was touched.
template <typename T> void check(MatmulShape s) {
  s.dtype = sizeof(T) == 8 ? DType::F64 : DType::F32;
  int64_t rowsA = s.transposeA ? s.k : s.m, rowsB = s.transposeB ? s.n : s.k;
  if (s.batch > 1) {
    s.batchStrideA = rowsA * s.lda + 3;
    s.batchStrideB = rowsB * s.ldb + 5;
    s.batchStrideC = s.m * s.ldc + 7;
  }
  auto a = randomValues<T>(static_cast<size_t>(rowsA * s.lda + s.batch * s.batchStrideA), 1);
  auto b = randomValues<T>(static_cast<size_t>(rowsB * s.ldb + s.batch * s.batchStrideB), 2);
  auto c = randomValues<T>(static_cast<size_t>(s.m * s.ldc + s.batch * s.batchStrideC), 3);
  auto bias = randomValues<T>(static_cast<size_t>(s.n), 4);
  std::vector<T> expected = c;
  for (int64_t batch = 0; batch < s.batch; ++batch)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = s.bias ? static_cast<double>(bias[static_cast<size_t>(j)]) : 0;
        size_t at = static_cast<size_t>(batch * s.batchStrideC + i * s.ldc + j);
        if (s.accumulate)
          sum += static_cast<double>(c[at]);
        for (int64_t p = 0; p < s.k; ++p) {
          int64_t ia = batch * s.batchStrideA + (s.transposeA ? p * s.lda + i : i * s.lda + p);
          int64_t ib = batch * s.batchStrideB + (s.transposeB ? j * s.ldb + p : p * s.ldb + j);
          sum += static_cast<double>(a[static_cast<size_t>(ia)]) *
                 static_cast<double>(b[static_cast<size_t>(ib)]);
        }
        expected[at] = static_cast<T>(sum);
      }
  auto product = Matmul::create(s, 1);
  ASSERT_TRUE(product) << product.error().message;
  auto done = (*product)->runWhole(0, a.data(), b.data(), c.data(), s.bias ? bias.data() : nullptr);
  ASSERT_TRUE(done) << done.error().message;
  double worst = 0;
  for (size_t i = 0; i < c.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(c[i]) - static_cast<double>(expected[i])));
  // Sums of k products of numbers up to 1, each rounded to T.
  EXPECT_LE(worst, std::sqrt(static_cast<double>(s.k)) * (sizeof(T) == 8 ? 1e-15 : 1e-6) * 4)
      << s.m << " x " << s.n << " x " << s.k << " transposed " << s.transposeA << s.transposeB
      << " accumulate " << s.accumulate << " bias " << s.bias << " batch " << s.batch;
}

/// The bf16 value nearest to x, as its upper 16 bits.
uint16_t roundToBf16(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
float widen(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }

std::vector<uint16_t> roundedValues(size_t count, uint64_t seed) {
  std::vector<uint16_t> values;
  for (float value : randomValues<float>(count, seed))
    values.push_back(roundToBf16(value));
  return values;
}

template <typename T> void checkAllForms() {
  const int64_t sizes[][3] = {{1, 1, 1}, {4, 4, 128}, {7, 13, 5}, {33, 16, 64}, {128, 3, 512}};
  for (const auto &[m, n, k] : sizes)
    for (int form = 0; form < 32; ++form) {
      MatmulShape s;
      s.m = m, s.n = n, s.k = k;
      s.transposeA = form & 1, s.transposeB = form & 2, s.accumulate = form & 4, s.bias = form & 8;
      s.batch = form & 16 ? 3 : 1;
      int64_t padding = form % 3;
      s.lda = (s.transposeA ? m : k) + padding;
      s.ldb = (s.transposeB ? k : n) + padding;
      s.ldc = n + padding;
      check<T>(s);
    }
}

} // namespace

TEST(Matmul, EveryFormInF32) { checkAllForms<float>(); }
TEST(Matmul, EveryFormInF64) { checkAllForms<double>(); }

/// Operands of bf16 and a sum in f32: as exact as f32 for operands that are bf16 numbers.
TEST(Matmul, EveryFormOfBf16) {
  if (!hasCpuFeature("avx512_bf16"))
    GTEST_SKIP() << "this CPU does not multiply bf16";
  for (int form = 0; form < 8; ++form) {
    MatmulShape s;
    s.m = 33, s.n = 24, s.k = 70, s.dtype = DType::BF16;
    s.transposeA = form & 1, s.transposeB = form & 2, s.bias = form & 4;
    s.lda = s.transposeA ? s.m : s.k, s.ldb = s.transposeB ? s.k : s.n, s.ldc = s.n + 1;
    auto a = roundedValues(static_cast<size_t>(s.m * s.k), 1),
         b = roundedValues(static_cast<size_t>(s.k * s.n), 2);
    auto bias = randomValues<float>(static_cast<size_t>(s.n), 3);
    std::vector<float> c(static_cast<size_t>(s.m * s.ldc));
    auto product = Matmul::create(s, 1);
    ASSERT_TRUE(product) << product.error().message;
    ASSERT_TRUE(
        (*product)->runWhole(0, a.data(), b.data(), c.data(), s.bias ? bias.data() : nullptr));
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = s.bias ? static_cast<double>(bias[static_cast<size_t>(j)]) : 0;
        for (int64_t p = 0; p < s.k; ++p)
          sum += static_cast<double>(
                     widen(a[static_cast<size_t>(s.transposeA ? p * s.lda + i : i * s.lda + p)])) *
                 static_cast<double>(
                     widen(b[static_cast<size_t>(s.transposeB ? j * s.ldb + p : p * s.ldb + j)]));
        EXPECT_NEAR(static_cast<double>(c[static_cast<size_t>(i * s.ldc + j)]), sum, 2e-5)
            << "form " << form << " at " << i << ", " << j;
      }
  }
}

TEST(Matmul, SameBitsEveryTime) {
  MatmulShape s;
  s.m = 64, s.n = 128, s.k = 4096, s.lda = 64, s.ldb = 128, s.ldc = 128, s.transposeA = true;
  auto a = randomValues<float>(static_cast<size_t>(s.k * s.lda), 1);
  auto b = randomValues<float>(static_cast<size_t>(s.k * s.ldb), 2);
  auto product = Matmul::create(s, 1);
  ASSERT_TRUE(product);
  std::vector<float> first(64 * 128), again(64 * 128);
  ASSERT_TRUE((*product)->runWhole(0, a.data(), b.data(), first.data(), nullptr));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE((*product)->runWhole(0, a.data(), b.data(), again.data(), nullptr));
    ASSERT_EQ(first, again);
  }
}

/// Large enough to be divided in every dimension, and into a last part that is smaller.
TEST(Matmul, PartsAreTheWhole) {
  const int64_t sizes[][4] = {// m, n, k, batch
                              {1000, 200, 300, 1},
                              {96, 500, 2000, 1},
                              {1, 30001, 64, 1},
                              {40, 24, 64, 301},
                              {300, 70, 900, 2}};
  for (const auto &[m, n, k, batch] : sizes)
    for (int form = 0; form < 8; ++form) {
      MatmulShape s;
      s.m = m, s.n = n, s.k = k, s.batch = batch;
      s.transposeA = form & 1, s.transposeB = form & 2, s.accumulate = form & 4;
      s.bias = !s.transposeA;
      s.lda = (s.transposeA ? m : k) + 3, s.ldb = (s.transposeB ? k : n), s.ldc = n + 1;
      auto product = Matmul::create(s, 1);
      ASSERT_TRUE(product);
      EXPECT_GT((*product)->parts(), 1) << m << " x " << n << " x " << k;
      check<float>(s);
    }
}

TEST(Matmul, ThreadsTakeTheParts) {
  MatmulShape s;
  s.m = 1000, s.n = 128, s.k = 512, s.lda = s.k, s.ldb = s.n, s.ldc = s.n;
  auto a = randomValues<float>(static_cast<size_t>(s.m * s.lda), 1);
  auto b = randomValues<float>(static_cast<size_t>(s.k * s.ldb), 2);
  std::vector<float> alone(static_cast<size_t>(s.m * s.n)), together(alone);
  auto product = Matmul::create(s, 3);
  ASSERT_TRUE(product);
  ASSERT_TRUE((*product)->runWhole(0, a.data(), b.data(), alone.data(), nullptr));
  parallelRegion(3, [&](Member &member) {
    member.share((*product)->parts(), 1, [&](int64_t lo, int64_t hi) {
      for (int64_t part = lo; part < hi; ++part)
        if (!(*product)->run(part, member.thread(), a.data(), b.data(), together.data(), nullptr))
          member.fail();
    });
  });
  EXPECT_EQ(alone, together);
}

namespace {

/// A grouped product against the definition; offsets may be anything.
template <typename T>
void checkGroups(bool transposeA, bool transposeB, const std::vector<int32_t> &offsets) {
  constexpr int64_t rows = 13, in = 5, out = 7;
  int64_t groups = static_cast<int64_t>(offsets.size()) - 1;
  MatmulShape s;
  s.dtype = sizeof(T) == 8 ? DType::F64 : DType::F32;
  s.m = transposeA ? out : rows, s.k = transposeA ? rows : in, s.n = transposeA ? in : out;
  s.lda = transposeA ? out : in, s.ldb = transposeB || transposeA ? in : out, s.ldc = s.n;
  s.transposeA = transposeA, s.transposeB = transposeB, s.grouped = true, s.batch = groups;
  (transposeA ? s.batchStrideC : s.batchStrideB) = in * out;
  auto a = randomValues<T>(static_cast<size_t>(rows * s.lda), 1);
  auto b = randomValues<T>(static_cast<size_t>(std::max<int64_t>(groups * in * out, rows * in)), 2);
  int64_t results = transposeA ? groups * in * out : rows * out;
  std::vector<T> c(static_cast<size_t>(results + 8), T(42));
  auto product = Matmul::create(s, 1);
  ASSERT_TRUE(product) << product.error().message;
  auto done = (*product)->runWhole(0, a.data(), b.data(), c.data(), offsets.data());
  ASSERT_TRUE(done) << done.error().message;
  std::vector<double> expected(static_cast<size_t>(results), 0);
  int64_t first = 0;
  for (int64_t group = 0; group < groups; ++group) {
    int64_t last = std::clamp<int64_t>(offsets[static_cast<size_t>(group + 1)], first, rows);
    for (int64_t r = first; r < last; ++r)
      for (int64_t i = 0; i < in; ++i)
        for (int64_t o = 0; o < out; ++o) {
          auto value = [](const std::vector<T> &from, int64_t at) {
            return static_cast<double>(from[static_cast<size_t>(at)]);
          };
          if (transposeA)
            expected[static_cast<size_t>((group * out + o) * in + i)] +=
                value(a, r * out + o) * value(b, r * in + i);
          else
            expected[static_cast<size_t>(r * out + o)] +=
                value(a, r * in + i) *
                value(b, group * in * out + (transposeB ? o * in + i : i * out + o));
        }
    first = last;
  }
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(static_cast<double>(c[i]), expected[i], 1e-5) << i;
  for (size_t i = expected.size(); i < c.size(); ++i)
    EXPECT_EQ(c[i], T(42)) << "written behind the result";
}

TEST(GroupedMatmul, GroupsOfAnySize) {
  for (bool transposeB : {false, true}) {
    checkGroups<float>(false, transposeB, {0, 4, 4, 9, 13});
    checkGroups<double>(false, transposeB, {0, 0, 6, 7, 10}); // the last rows belong to nobody
  }
  checkGroups<float>(true, false, {0, 4, 4, 9, 13});
  checkGroups<double>(true, false, {0, 0, 6, 7, 10});
}

TEST(GroupedMatmul, OffsetsLeadNowhereOutside) {
  checkGroups<float>(false, true, {5, -3, 40, 2, 1000});
  checkGroups<double>(true, false, {0, 1 << 30, -5, 2, 13});
}

} // namespace
