//===- DispatchTest.cpp - rows to their slots and back -----------------------===//
#include "codegen/kernels/Dispatch.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/Dispatch.cuh"
#endif

HYBRID_TEST_KERNEL(Dispatch, dispatch, dispatch)
HYBRID_TEST_KERNEL(Collect, collect, collect)

using namespace hybrid;
using namespace hybrid::test;

namespace {

template <typename T> struct Dispatches : testing::Test {};
TYPED_TEST_SUITE(Dispatches, Scalars);

// Tokens with a few choices each, for all of which a token stands once in x, or once for each.
constexpr DispatchParams cases[] = {
    {15, 19, 3, 23, 0, 21, 1},
    {15, 151, 3, 160, 0, 155, 1},
    {15, 1100, 3, 1100, 0, 1104, 4},
    // So many that a lane has two: rows of one lane, of a few and of a warp.
    {150000, 3, 3, 3, 0, 3, 1},
    {40002, 16, 3, 20, 0, 16, 4},
    {9000, 128, 3, 128, 0, 128, 4},
    {5001, 120, 3, 120, 0, 122, 2},
    {70002, 8, 2, 24, 12, 8, 4},
};

TYPED_TEST(Dispatches, CollectUndoesDispatch) {
  forEachCase<cases>([](const auto &of) {
    const DispatchParams p = of.value;
    const int64_t copies = p.choiceStride ? 1 : p.choices, given = p.rows / copies;
    Tensor<TypeParam> x(randomDoubles(given * p.columns, 1), given, p.columns,
                        p.choiceStride ? p.choiceStride : p.tokenStride),
        sorted(p.rows, p.columns, p.yStride), back(p.rows, p.columns);
    std::vector<int32_t> slots;
    for (int64_t i = 0; i < p.rows; ++i) // 7 divides no number of rows
      slots.push_back(static_cast<int32_t>((i * 7 + 4) % p.rows));
    auto both = [&] {
      launch<Dispatch, TypeParam>(
          of, [](const DispatchParams &p) { return p; }, {&sorted}, x.data(), slots.data(),
          sorted.data());
      launch<Collect, TypeParam>(
          of,
          [](const DispatchParams &p) {
            return DispatchParams{p.rows, p.columns, 1, p.yStride, 0, p.columns, p.alignment};
          },
          {&back}, sorted.data(), slots.data(), back.data());
    };
    both();
    for (int64_t row = 0; row < p.rows; ++row)
      for (int64_t column = 0; column < p.columns; ++column) {
        EXPECT_EQ(back.at(row, column), x.at(row / copies, column));
        EXPECT_EQ(sorted.at(slots[static_cast<size_t>(row)], column), x.at(row / copies, column));
      }
    // Slots that lead outside are not followed.
    slots[3] = static_cast<int32_t>(p.rows), slots[4] = -1;
    both();
    for (int64_t column = 0; column < p.columns; ++column) {
      EXPECT_TRUE(std::isnan(back.at(3, column)));
      EXPECT_TRUE(std::isnan(back.at(4, column)));
      EXPECT_EQ(back.at(5, column), x.at(5 / copies, column));
    }
  });
}

#ifdef HYBRID_CUDA_SHIM
// Either side may lie in memory as bf16: rows are rounded on their way, or widened.
constexpr DispatchParams mixed[] = {{300, 16, 3, 20, 0, 16, 4}, {40, 19, 2, 19, 0, 21, 1}};
TEST(Dispatches16, RoundAndWiden) {
  forEachCase<mixed>([](const auto &of) {
    const DispatchParams p = of.value;
    Tensor<float> x(randomDoubles(p.rows / p.choices * p.columns, 1), p.rows / p.choices, p.columns,
                    p.tokenStride),
        back(p.rows, p.columns);
    std::vector<cuda::bf16> sorted(static_cast<size_t>(p.rows * p.yStride));
    std::vector<int32_t> slots;
    for (int64_t i = 0; i < p.rows; ++i)
      slots.push_back(static_cast<int32_t>((i * 7 + 4) % p.rows));
    slots[5] = -1;
    launch<Dispatch, float>(
        of, [](const DispatchParams &p) { return p; }, {}, x.data(), slots.data(),
        cuda::RoundedBuffer{sorted.data()});
    launch<Collect, float>(
        of,
        [](const DispatchParams &p) {
          return DispatchParams{p.rows, p.columns, 1, p.yStride, 0, p.columns, p.alignment};
        },
        {&back}, cuda::RoundedBuffer{sorted.data()}, slots.data(), back.data());
    for (int64_t row = 0; row < p.rows; ++row)
      for (int64_t column = 0; column < p.columns; ++column) {
        const auto given = static_cast<float>(x.at(row / p.choices, column));
        const auto expected = cuda::fromBf16(cuda::toBf16(given));
        if (row == 5)
          EXPECT_TRUE(std::isnan(back.at(row, column)));
        else
          EXPECT_EQ(back.at(row, column), static_cast<double>(expected));
      }
  });
}
#endif

} // namespace
