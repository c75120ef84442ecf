//===- RoutingTest.cpp - choosing experts and moving rows ---------------------===//
#include "KernelTest.h"
#include "codegen/kernels/Dispatch.h"
#include "codegen/kernels/Route.h"
#include "codegen/kernels/Take.h"
#include "codegen/kernels/TopK.h"

namespace hybrid::cpu::test {
namespace {

HYBRID_DECLARE_KERNEL(top_k, TopKParams)
HYBRID_DECLARE_KERNEL(take, TakeParams)
HYBRID_DECLARE_KERNEL(scatter, TakeParams)
HYBRID_DECLARE_KERNEL(route, RouteParams)
HYBRID_DECLARE_KERNEL(dispatch, DispatchParams)
HYBRID_DECLARE_KERNEL(collect, DispatchParams)

using Integers = std::vector<int32_t>;

template <typename T> class Routing : public ::testing::Test {};
TYPED_TEST_SUITE(Routing, Scalars);

TYPED_TEST(Routing, TopKTakesTheLargestAndOfEqualsTheFirst) {
  const double nan = std::nan("");
  Tensor<TypeParam> x({1, 3, 2, 3, nan, 5, nan, -1, 0, 0, 0, 0}, 3, 4, 7);
  Integers chosen(9, -7);
  TopKParams params{3, 4, 3, 7};
  callInPieces(top_k<TypeParam>, 3, {x.data(), chosen.data()}, params);
  EXPECT_EQ(chosen, (Integers{1, 3, 2, 1, 3, 0, 0, 1, 2}));
}

TYPED_TEST(Routing, TakeAndScatterStayInside) {
  Tensor<TypeParam> x({1, 2, 3, 4, 5, 6}, 2, 3, 5), y(2, 2, 4);
  Integers indices{2, 0, -1, 3};
  TakeParams params{2, 3, 2, 5, 4};
  callInPieces(take<TypeParam>, 2, {x.data(), indices.data(), y.data()}, params);
  EXPECT_EQ(static_cast<double>(y.at(0, 0)), 3);
  EXPECT_EQ(static_cast<double>(y.at(0, 1)), 1);
  EXPECT_TRUE(std::isnan(static_cast<double>(y.at(1, 0))));
  EXPECT_TRUE(std::isnan(static_cast<double>(y.at(1, 1))));
  EXPECT_TRUE(y.guardsIntact());

  Tensor<TypeParam> values({1, 2, 3, 4}, 2, 2, 4), spread(2, 3, 5);
  Integers places{1, 1, 5, 0};
  params.xStride = 4, params.yStride = 5;
  callInPieces(scatter<TypeParam>, 2, {values.data(), places.data(), spread.data()}, params);
  EXPECT_EQ(spread.values(), (Doubles{0, 3, 0, 4, 0, 0}));
  EXPECT_TRUE(spread.guardsIntact());
}

TYPED_TEST(Routing, RouteSortsByExpertKeepingTheOrder) {
  Integers choices{2, 0, 2, 1, 0, 2, 9, -1}, slots(8, -7), offsets(4, -7);
  RouteParams params{8, 3, 0};
  callWhole(route<TypeParam>, 1, {choices.data(), slots.data(), offsets.data()}, params,
            scratchOf<Route, float>(params));
  EXPECT_EQ(offsets, (Integers{0, 2, 3, 6}));
  EXPECT_EQ(slots, (Integers{3, 0, 4, 2, 1, 5, 6, 7})); // what is no expert comes last
  params.capacity = 2;
  callWhole(route<TypeParam>, 1, {choices.data(), slots.data(), offsets.data()}, params,
            scratchOf<Route, float>(params));
  EXPECT_EQ(offsets, (Integers{0, 2, 3, 5}));
  EXPECT_EQ(slots, (Integers{3, 0, 4, 2, 1, 5, 6, 7})); // the third of expert 2 is left over
}

TYPED_TEST(Routing, CollectUndoesDispatch) {
  constexpr int64_t tokens = 5, choices = 3, columns = 19, rows = tokens * choices;
  Doubles values = randomDoubles(tokens * columns, 1);
  Tensor<TypeParam> x(values, tokens, columns, 23), sorted(rows, columns, 21), back(rows, columns);
  Integers slots(rows);
  for (int64_t i = 0; i < rows; ++i)
    slots[static_cast<size_t>(i)] = static_cast<int32_t>((i * 7 + 4) % rows);
  // A token stands once in x, for each of its choices.
  DispatchParams params{rows, columns, choices, 23, 0, 21};
  callInPieces(dispatch<TypeParam>, rows, {x.data(), slots.data(), sorted.data()}, params);
  DispatchParams reverse{rows, columns, 1, 21, 0, columns};
  callInPieces(collect<TypeParam>, rows, {sorted.data(), slots.data(), back.data()}, reverse);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t c = 0; c < columns; ++c) {
      EXPECT_EQ(back.at(row, c), x.at(row / choices, c));
      EXPECT_EQ(sorted.at(slots[static_cast<size_t>(row)], c), x.at(row / choices, c));
    }
  EXPECT_TRUE(sorted.guardsIntact() && back.guardsIntact());
  // Slots that lead outside are not followed.
  slots[3] = rows, slots[4] = -1;
  callWhole(dispatch<TypeParam>, rows, {x.data(), slots.data(), sorted.data()}, params);
  callWhole(collect<TypeParam>, rows, {sorted.data(), slots.data(), back.data()}, reverse);
  EXPECT_TRUE(sorted.guardsIntact() && back.guardsIntact());
  EXPECT_TRUE(std::isnan(static_cast<double>(back.at(3, 0))));
}

} // namespace
} // namespace hybrid::cpu::test
