//===- TopKTest.cpp - the largest of each row --------------------------------===//
#include "codegen/kernels/TopK.h"
#include "test/kernels/Launch.h"
#include <array>
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/TopK.cuh"
#endif

HYBRID_TEST_KERNEL(TopK, top_k, topK)

using namespace hybrid;
using namespace hybrid::test;

namespace {

template <typename T> struct TopKs : testing::Test {};
TYPED_TEST_SUITE(TopKs, Scalars);

constexpr auto params = [](const TopKParams &p) { return p; };

constexpr TopKParams few[] = {{3, 4, 3, 7, 1}};
TYPED_TEST(TopKs, TakesTheLargestAndOfEqualsTheFirst) {
  forEachCase<few>([](const auto &of) {
    const double nan = std::nan("");
    Tensor<TypeParam> x({1, 3, 2, 3, nan, 5, nan, -1, 0, 0, 0, 0}, 3, 4, 7);
    Tensor<int32_t> chosen(3, 3);
    launch<TopK, TypeParam>(of, params, {&chosen}, x.data(), chosen.data());
    EXPECT_EQ(chosen.values(), (Doubles{1, 3, 2, 1, 3, 0, 0, 1, 2}));
  });
}

template <typename T, typename Of> void checkSorted(const Of &of) {
  const TopKParams p = of.value;
  SCOPED_TRACE(testing::Message() << p.columns << " columns, k " << p.k);
  // Every third row has few different values, every third one is mostly no numbers.
  Tensor<T> x(randomDoubles(p.rows * p.columns, 3), p.rows, p.columns, p.xStride);
  for (int64_t row = 0; row < p.rows; ++row)
    for (int64_t column = 0; column < p.columns; ++column)
      if (T &value = x.at(row, column); row % 3 == 1)
        value = value > T(0.5) ? std::numeric_limits<T>::infinity() : std::round(value);
      else if (row % 3 == 2)
        value = value > T(0.2)   ? value
                : value > T(0.1) ? -std::numeric_limits<T>::infinity()
                                 : static_cast<T>(std::nan(""));
  Tensor<int32_t> chosen(p.rows, p.k);
  launch<TopK, T>(of, params, {&chosen}, x.data(), chosen.data());
  for (int64_t row = 0; row < p.rows; ++row) {
    std::vector<int32_t> order;
    for (int32_t i = 0; i < p.columns; ++i)
      order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
      const T a = x.at(row, i), b = x.at(row, j);
      return std::isnan(b) ? !std::isnan(a) : a > b;
    });
    for (int64_t j = 0; j < p.k; ++j)
      EXPECT_EQ(chosen.at(row, j), order[static_cast<size_t>(j)]) << "row " << row << ", " << j;
  }
}

constexpr TopKParams sizes[] = {{11, 70, 5, 70, 2},  {300, 8, 2, 8, 4},   {140, 8, 8, 12, 4},
                                {20, 31, 31, 31, 1}, {20, 32, 32, 36, 4}, {20, 33, 33, 33, 1},
                                {20, 16, 4, 18, 2},  {9, 64, 3, 68, 4}};
TYPED_TEST(TopKs, ChoosesAsASortDoes) {
  forEachCase<sizes>([](const auto &of) { checkSorted<TypeParam>(of); });
}

/// Rows of 1 to 40 columns, all of them chosen.
constexpr auto widths = [] {
  std::array<TopKParams, 40> all{};
  for (int64_t columns = 1; columns <= 40; ++columns)
    all[static_cast<size_t>(columns - 1)] = {4, columns, columns, columns, 1};
  return all;
}();
TYPED_TEST(TopKs, OfAnyWidth) {
  forEachCase<widths>([](const auto &of) { checkSorted<TypeParam>(of); });
}

} // namespace
