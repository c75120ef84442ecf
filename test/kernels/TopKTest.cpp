//===- TopKTest.cpp - the largest of each row --------------------------------===//
#include "codegen/kernels/TopK.h"
#include "test/kernels/Launch.h"
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

constexpr TopKParams few[] = {{3, 4, 3, 7}};
TYPED_TEST(TopKs, TakesTheLargestAndOfEqualsTheFirst) {
  forEachCase<few>([](const auto &of) {
    const double nan = std::nan("");
    Tensor<TypeParam> x({1, 3, 2, 3, nan, 5, nan, -1, 0, 0, 0, 0}, 3, 4, 7);
    Tensor<int32_t> chosen(3, 3);
    launch<TopK, TypeParam>(of, params, {&chosen}, x.data(), chosen.data());
    EXPECT_EQ(chosen.values(), (Doubles{1, 3, 2, 1, 3, 0, 0, 1, 2}));
  });
}

constexpr TopKParams many[] = {{11, 70, 5, 70}};
TYPED_TEST(TopKs, OfManyColumns) {
  forEachCase<many>([](const auto &of) {
    const TopKParams p = of.value;
    Tensor<TypeParam> x(randomDoubles(p.rows * p.columns, 3), p.rows, p.columns);
    Tensor<int32_t> chosen(p.rows, p.k);
    launch<TopK, TypeParam>(of, params, {&chosen}, x.data(), chosen.data());
    for (int64_t row = 0; row < p.rows; ++row) {
      std::vector<int32_t> order;
      for (int32_t i = 0; i < p.columns; ++i)
        order.push_back(i);
      std::stable_sort(order.begin(), order.end(),
                       [&](int i, int j) { return x.at(row, i) > x.at(row, j); });
      for (int64_t j = 0; j < p.k; ++j)
        EXPECT_EQ(chosen.at(row, j), order[static_cast<size_t>(j)]);
    }
  });
}

} // namespace
