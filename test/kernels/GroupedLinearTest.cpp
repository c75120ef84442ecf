//===- GroupedLinearTest.cpp - products of groups of rows against loops ------===//
//
// On CUDA; on the CPU a library computes them.
//
//===----------------------------------------------------------------------===//
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/GroupedLinear.cuh"
#include "test/kernels/Launch.h"

HYBRID_TEST_KERNEL(GroupedLinear, , groupedLinear)
HYBRID_TEST_KERNEL(GroupedLinearGrad, , groupedLinearGrad)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t rows, groups, inputs, outputs, transposed, alignment, bf16 = 0;
  int64_t splits = 0; // of the gradient; 0: as many as the cost rule says
};

constexpr GroupedLinearParams paramsOf(const Case &c) {
  return {c.rows, c.groups, c.inputs, c.outputs, c.transposed, 1, c.bf16, c.alignment, 0, 0};
}
template <typename T> constexpr GroupedLinearParams gradientOf(const Case &c) {
  GroupedLinearParams p = GroupedLinearGradTiles::onCuda<T>(paramsOf(c));
  p.splits = c.splits ? c.splits : p.splits;
  return p;
}

template <typename T> std::vector<cuda::bf16> inMemory(Tensor<T> &tensor) {
  std::vector<cuda::bf16> rounded;
  for (double value : tensor.values())
    rounded.push_back(cuda::toBf16(static_cast<float>(value)));
  return rounded;
}

/// Both directions and the gradient.
template <typename T, typename Of> void check(const Of &of, const std::vector<int32_t> &offsets) {
  const Case c = of.value;
  const int64_t rows = c.rows, groups = c.groups, inputs = c.inputs, outputs = c.outputs;
  SCOPED_TRACE(testing::Message() << rows << " rows, " << groups << " groups, " << outputs << "x"
                                  << inputs << " transposed " << c.transposed << " bf16 " << c.bf16
                                  << " f" << 8 * sizeof(T));
  Doubles x = randomDoubles(rows * inputs, 1), w = randomDoubles(groups * outputs * inputs, 2);
  Doubles dy = randomDoubles(rows * outputs, 3), y(dy.size(), 0), dw(w.size(), 0);
  auto at = [](Doubles &values, int64_t i) -> double & { return values[static_cast<size_t>(i)]; };
  for (int64_t e = 0; e < groups; ++e)
    for (int64_t r = offsets[static_cast<size_t>(e)]; r < offsets[static_cast<size_t>(e + 1)]; ++r)
      for (int64_t o = 0; o < outputs; ++o)
        for (int64_t i = 0; i < inputs; ++i) {
          int64_t weight = e * outputs * inputs + (c.transposed ? i * outputs + o : o * inputs + i);
          at(y, r * outputs + o) += at(x, r * inputs + i) * at(w, weight);
          at(dw, (e * outputs + o) * inputs + i) += at(dy, r * outputs + o) * at(x, r * inputs + i);
        }
  const double bound = c.bf16 ? 1e-2 : tolerance<T>(2e-6);
  Tensor<T> tx(x, rows, inputs), tw(w, groups * outputs, inputs), ty(rows, outputs);
  launch<GroupedLinear, T>(
      of, [](const Case &c) { return GroupedLinearTiles::onCuda<T>(paramsOf(c)); }, {&ty},
      tx.data(), tw.data(), offsets.data(), ty.data());
  EXPECT_LT(relativeError(ty.values(), y), bound);

  Tensor<T> tdy(dy, rows, outputs), partial(gradientOf<T>(c).splits * groups * outputs, inputs);
  launch<GroupedLinearGrad, T>(
      of, [](const Case &c) { return gradientOf<T>(c); }, {&partial}, tx.data(), tdy.data(),
      offsets.data(), partial.data());
  Doubles parts = partial.values(), sum(dw.size(), 0);
  for (size_t i = 0; i < parts.size(); ++i)
    sum[i % sum.size()] += parts[i];
  EXPECT_LT(relativeError(sum, dw), bound);

  // Rows that lie in memory as bf16 are rounded already: the same bits.
  if constexpr (sizeof(T) == 4 && Of::value.bf16 != 0) {
    std::vector<cuda::bf16> x16 = inMemory(tx), dy16 = inMemory(tdy);
    Tensor<T> again(rows, outputs),
        partialAgain(gradientOf<T>(c).splits * groups * outputs, inputs);
    launch<GroupedLinear, T>(
        of, [](const Case &c) { return GroupedLinearTiles::onCuda<T>(paramsOf(c)); }, {&again},
        cuda::RoundedBuffer{x16.data()}, tw.data(), offsets.data(), again.data());
    EXPECT_TRUE(again.sameBits(ty));
    launch<GroupedLinearGrad, T>(
        of, [](const Case &c) { return gradientOf<T>(c); }, {&partialAgain},
        cuda::RoundedBuffer{x16.data()}, cuda::RoundedBuffer{dy16.data()}, offsets.data(),
        partialAgain.data());
    EXPECT_TRUE(partialAgain.sameBits(partial));
  }
}

template <typename T, const auto &cases> void checkAll(const std::vector<int32_t> &offsets) {
  forEachCase<cases>([&](const auto &of) { check<T>(of, offsets); });
}

constexpr Case aligned[] = {{300, 3, 40, 72, 0, 4}, {300, 3, 40, 72, 1, 4}};
constexpr Case unaligned[] = {{50, 3, 17, 33, 0, 1}, {50, 3, 17, 33, 1, 1}};
TEST(GroupedLinears, MultiplyEachGroupWithItsWeight) {
  checkAll<float, aligned>({0, 130, 131, 290});
  checkAll<double, unaligned>({0, 20, 20, 50});
}
constexpr Case odd[] = {{37, 2, 17, 33, 0, 1}}, transposed[] = {{37, 2, 17, 33, 1, 1}},
               one[] = {{1, 1, 1, 1, 0, 1}}, none[] = {{5, 2, 3, 2, 1, 1}};
TEST(GroupedLinears, TakeAnySizes) {
  checkAll<float, odd>({0, 0, 37});
  checkAll<float, transposed>({0, 37, 37});
  checkAll<float, one>({0, 1});
  checkAll<float, none>({0, 0, 0}); // nobody has rows
}
constexpr Case many[] = {{150, 70, 8, 12, 0, 4}};
TEST(GroupedLinears, FindTheirGroupAmongMany) {
  std::vector<int32_t> offsets{0};
  for (int i = 0; i < 70; ++i)
    offsets.push_back(offsets.back() + i * 7 % 5);
  checkAll<float, many>(offsets);
}
constexpr Case cut[] = {{300, 2, 20, 36, 0, 4, 0, 3}};
TEST(GroupedLinears, CutTheContractionOfTheGradient) { checkAll<float, cut>({0, 100, 290}); }
constexpr Case rounded[] = {{150, 2, 40, 72, 0, 4, 1}}, roundedBack[] = {{150, 2, 40, 72, 1, 4, 1}};
TEST(GroupedLinears, RoundOperandsToBf16) {
  checkAll<float, rounded>({0, 70, 150});
  checkAll<float, roundedBack>({0, 70, 140});
}
// Rows of bf16 that are no whole words, and whole words but no vectors.
constexpr Case narrow[] = {{70, 2, 17, 33, 0, 1, 1}, {70, 2, 17, 33, 1, 1, 1}},
               words[] = {{70, 3, 34, 22, 0, 2, 1}, {70, 3, 34, 22, 1, 2, 1}};
TEST(GroupedLinears, TakeRoundedRowsOfAnyAlignment) {
  checkAll<float, narrow>({0, 33, 70});
  checkAll<float, words>({0, 1, 40, 69});
}

} // namespace
#endif
