//===- GroupedLinearTest.cpp - products of groups of rows against loops -----===//
#include "codegen/kernels/cuda/GroupedLinear.cuh"
#include "test/unit/cuda/KernelTest.h"
#include "test/unit/kernels/KernelTest.h"

using namespace hybrid;
using namespace hybrid::cuda;
using hybrid::cpu::test::Doubles;
using hybrid::cpu::test::randomDoubles;
using hybrid::cpu::test::relativeError;
using hybrid::cpu::test::Tensor;

namespace {

/// Both directions and the gradient; `splits` 0: as many as the cost rule says.
template <typename T, GroupedLinearParams C, int64_t splits = 0>
void check(const std::vector<int32_t> &offsets) {
  constexpr int64_t rows = C.rows, groups = C.groups, inputs = C.inputs, outputs = C.outputs;
  SCOPED_TRACE(testing::Message() << rows << " rows, " << groups << " groups, " << outputs << "x"
                                  << inputs << " transposed " << C.transposed << " bf16 " << C.bf16
                                  << " bytes " << sizeof(T));
  Doubles x = randomDoubles(rows * inputs, 1), w = randomDoubles(groups * outputs * inputs, 2);
  Doubles dy = randomDoubles(rows * outputs, 3), y(dy.size(), 0), dw(w.size(), 0);
  auto at = [](Doubles &values, int64_t i) -> double & { return values[static_cast<size_t>(i)]; };
  for (int64_t e = 0; e < groups; ++e)
    for (int64_t r = offsets[static_cast<size_t>(e)]; r < offsets[static_cast<size_t>(e + 1)]; ++r)
      for (int64_t o = 0; o < outputs; ++o)
        for (int64_t i = 0; i < inputs; ++i) {
          int64_t weight = e * outputs * inputs + (C.transposed ? i * outputs + o : o * inputs + i);
          at(y, r * outputs + o) += at(x, r * inputs + i) * at(w, weight);
          at(dw, (e * outputs + o) * inputs + i) += at(dy, r * outputs + o) * at(x, r * inputs + i);
        }
  const double bound = C.bf16 ? 1e-2 : hybrid::cpu::test::tolerance<T>(2e-6);
  Tensor<T> tx(x, rows, inputs), tw(w, groups * outputs, inputs), ty(rows, outputs);
  constexpr GroupedLinearParams F = GroupedLinearTiles::onCuda<T>(C);
  test::run("groupedLinear", groupedLinearItems(F), threads(F), groupedLinearShared<T>(F),
            [&](int64_t item) {
              groupedLinear<T, F>(item, tx.data(), tw.data(), offsets.data(), ty.data());
            });
  EXPECT_TRUE(ty.guardsIntact());
  EXPECT_LT(relativeError(ty.values(), y), bound);

  static constexpr GroupedLinearParams W = [] {
    GroupedLinearParams tiles = GroupedLinearGradTiles::onCuda<T>(C);
    tiles.splits = splits ? splits : tiles.splits;
    return tiles;
  }();
  Tensor<T> tdy(dy, rows, outputs), partial(W.splits * groups * outputs, inputs);
  test::run("groupedLinearGrad", groupedLinearGradItems(W), threads(W),
            groupedLinearGradShared<T>(W), [&](int64_t item) {
              groupedLinearGrad<T, W>(item, tx.data(), tdy.data(), offsets.data(), partial.data());
            });
  EXPECT_TRUE(partial.guardsIntact());
  Doubles parts = partial.values(), sum(dw.size(), 0);
  for (size_t i = 0; i < parts.size(); ++i)
    sum[i % sum.size()] += parts[i];
  EXPECT_LT(relativeError(sum, dw), bound);
}

TEST(CudaGroupedLinear, MultipliesEachGroupWithItsWeight) {
  check<float, GroupedLinearParams{300, 3, 40, 72, 0, 1, 0, 4, 0, 0}>({0, 130, 131, 290});
  check<float, GroupedLinearParams{300, 3, 40, 72, 1, 1, 0, 4, 0, 0}>({0, 130, 131, 290});
  check<double, GroupedLinearParams{50, 3, 17, 33, 0, 1, 0, 1, 0, 0}>({0, 20, 20, 50});
  check<double, GroupedLinearParams{50, 3, 17, 33, 1, 1, 0, 1, 0, 0}>({0, 20, 20, 50});
}
TEST(CudaGroupedLinear, TakesAnySizes) {
  check<float, GroupedLinearParams{37, 2, 17, 33, 0, 1, 0, 1, 0, 0}>({0, 0, 37});
  check<float, GroupedLinearParams{37, 2, 17, 33, 1, 1, 0, 1, 0, 0}>({0, 37, 37});
  check<float, GroupedLinearParams{1, 1, 1, 1, 0, 1, 0, 1, 0, 0}>({0, 1});
  check<float, GroupedLinearParams{5, 2, 3, 2, 1, 1, 0, 1, 0, 0}>({0, 0, 0}); // nobody has rows
}
TEST(CudaGroupedLinear, FindsItsGroupAmongMany) {
  std::vector<int32_t> offsets{0};
  for (int i = 0; i < 70; ++i)
    offsets.push_back(offsets.back() + i * 7 % 5);
  check<float, GroupedLinearParams{150, 70, 8, 12, 0, 1, 0, 4, 0, 0}>(offsets);
}
TEST(CudaGroupedLinear, CutsTheContractionOfTheGradient) {
  check<float, GroupedLinearParams{300, 2, 20, 36, 0, 1, 0, 4, 0, 0}, 3>({0, 100, 290});
}
TEST(CudaGroupedLinear, RoundsOperandsToBf16) {
  check<float, GroupedLinearParams{150, 2, 40, 72, 0, 1, 1, 4, 0, 0}>({0, 70, 150});
  check<float, GroupedLinearParams{150, 2, 40, 72, 1, 1, 1, 4, 0, 0}>({0, 70, 140});
}

} // namespace
