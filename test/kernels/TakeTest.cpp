//===- TakeTest.cpp - elements by index, and back ----------------------------===//
#include "codegen/kernels/Take.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/Take.cuh"
#endif

HYBRID_TEST_KERNEL(Take, take, take)
HYBRID_TEST_KERNEL(Scatter, scatter, scatter)

using namespace hybrid;
using namespace hybrid::test;

namespace {

template <typename T> struct Takes : testing::Test {};
TYPED_TEST_SUITE(Takes, Scalars);

constexpr TakeParams cases[] = {{2, 3, 2, 5, 4}};
TYPED_TEST(Takes, TakeAndScatterStayInside) {
  forEachCase<cases>([](const auto &of) {
    Tensor<TypeParam> x({1, 2, 3, 4, 5, 6}, 2, 3, 5), y(2, 2, 4);
    const int32_t indices[] = {2, 0, -1, 3};
    launch<Take, TypeParam>(
        of, [](const TakeParams &p) { return p; }, {&y}, x.data(), indices, y.data());
    EXPECT_EQ(static_cast<double>(y.at(0, 0)), 3);
    EXPECT_EQ(static_cast<double>(y.at(0, 1)), 1);
    EXPECT_TRUE(std::isnan(static_cast<double>(y.at(1, 0))));
    EXPECT_TRUE(std::isnan(static_cast<double>(y.at(1, 1))));

    Tensor<TypeParam> values({1, 2, 3, 4}, 2, 2, 4), spread(2, 3, 5);
    const int32_t places[] = {1, 1, 5, 0};
    launch<Scatter, TypeParam>(
        of,
        [](TakeParams p) {
          p.xStride = 4, p.yStride = 5;
          return p;
        },
        {&spread}, values.data(), places, spread.data());
    EXPECT_EQ(spread.values(), (Doubles{0, 3, 0, 4, 0, 0}));
  });
}

} // namespace
