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

// Five tokens, each with three choices, for each of which it stands once in x.
constexpr DispatchParams cases[] = {{15, 19, 3, 23, 0, 21}, {15, 151, 3, 160, 0, 155}};

TYPED_TEST(Dispatches, CollectUndoesDispatch) {
  forEachCase<cases>([](const auto &of) {
    const DispatchParams p = of.value;
    const int64_t tokens = p.rows / p.choices;
    Tensor<TypeParam> x(randomDoubles(tokens * p.columns, 1), tokens, p.columns, p.tokenStride),
        sorted(p.rows, p.columns, p.yStride), back(p.rows, p.columns);
    std::vector<int32_t> slots;
    for (int64_t i = 0; i < p.rows; ++i)
      slots.push_back(static_cast<int32_t>((i * 7 + 4) % p.rows));
    auto both = [&] {
      launch<Dispatch, TypeParam>(
          of, [](const DispatchParams &p) { return p; }, {&sorted}, x.data(), slots.data(),
          sorted.data());
      launch<Collect, TypeParam>(
          of,
          [](const DispatchParams &p) {
            return DispatchParams{p.rows, p.columns, 1, p.yStride, 0, p.columns};
          },
          {&back}, sorted.data(), slots.data(), back.data());
    };
    both();
    for (int64_t row = 0; row < p.rows; ++row)
      for (int64_t column = 0; column < p.columns; ++column) {
        EXPECT_EQ(back.at(row, column), x.at(row / p.choices, column));
        EXPECT_EQ(sorted.at(slots[static_cast<size_t>(row)], column),
                  x.at(row / p.choices, column));
      }
    // Slots that lead outside are not followed.
    slots[3] = static_cast<int32_t>(p.rows), slots[4] = -1;
    both();
    EXPECT_TRUE(std::isnan(static_cast<double>(back.at(3, 0))));
  });
}

} // namespace
