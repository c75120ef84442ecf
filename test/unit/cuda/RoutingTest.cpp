//===- RoutingTest.cpp - choosing experts and moving rows on CUDA -----------===//
#include "codegen/kernels/cuda/Dispatch.cuh"
#include "codegen/kernels/cuda/Route.cuh"
#include "codegen/kernels/cuda/Take.cuh"
#include "codegen/kernels/cuda/TopK.cuh"
#include "test/unit/cuda/KernelTest.h"
#include "test/unit/kernels/KernelTest.h"
#include <cmath>

using namespace hybrid;
using namespace hybrid::cuda;
using hybrid::cpu::test::Doubles;
using hybrid::cpu::test::randomDoubles;
using hybrid::cpu::test::Tensor;

namespace {

using Integers = std::vector<int32_t>;
constexpr int blockThreads = 256;

template <typename T> class CudaRouting : public ::testing::Test {};
TYPED_TEST_SUITE(CudaRouting, hybrid::cpu::test::Scalars);

TYPED_TEST(CudaRouting, TopKTakesTheLargestAndOfEqualsTheFirst) {
  const double nan = std::nan("");
  Tensor<TypeParam> x({1, 3, 2, 3, nan, 5, nan, -1, 0, 0, 0, 0}, 3, 4, 7);
  Integers chosen(9, -7);
  constexpr TopKParams params{3, 4, 3, 7};
  cuda::test::run("topK", 1, blockThreads, 0,
                  [&](int64_t item) { topK<TypeParam, params>(item, x.data(), chosen.data()); });
  EXPECT_EQ(chosen, (Integers{1, 3, 2, 1, 3, 0, 0, 1, 2}));
}

TYPED_TEST(CudaRouting, TopKOfManyColumns) {
  constexpr TopKParams params{11, 70, 5, 70};
  Doubles values = randomDoubles(params.rows * params.columns, 3);
  Tensor<TypeParam> x(values, params.rows, params.columns);
  Integers chosen(static_cast<size_t>(params.rows * params.k));
  cuda::test::run("topK", ceilDiv(params.rows, warpRows), blockThreads, 0,
                  [&](int64_t item) { topK<TypeParam, params>(item, x.data(), chosen.data()); });
  for (int64_t row = 0; row < params.rows; ++row) {
    Integers order(70);
    for (int i = 0; i < 70; ++i)
      order[static_cast<size_t>(i)] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](int i, int j) { return x.at(row, i) > x.at(row, j); });
    for (size_t j = 0; j < 5; ++j)
      EXPECT_EQ(chosen[static_cast<size_t>(row) * 5 + j], order[j]);
  }
}

TYPED_TEST(CudaRouting, TakeAndScatterStayInside) {
  Tensor<TypeParam> x({1, 2, 3, 4, 5, 6}, 2, 3, 5), y(2, 2, 4);
  Integers indices{2, 0, -1, 3};
  constexpr TakeParams params{2, 3, 2, 5, 4}, back{2, 3, 2, 4, 5};
  cuda::test::run("take", 1, blockThreads, 0, [&](int64_t item) {
    take<TypeParam, params>(item, x.data(), indices.data(), y.data());
  });
  EXPECT_EQ(static_cast<double>(y.at(0, 0)), 3);
  EXPECT_EQ(static_cast<double>(y.at(0, 1)), 1);
  EXPECT_TRUE(std::isnan(static_cast<double>(y.at(1, 0))));
  EXPECT_TRUE(std::isnan(static_cast<double>(y.at(1, 1))));
  EXPECT_TRUE(y.guardsIntact());

  Tensor<TypeParam> values({1, 2, 3, 4}, 2, 2, 4), spread(2, 3, 5);
  Integers places{1, 1, 5, 0};
  cuda::test::run("scatter", 1, blockThreads, 0, [&](int64_t item) {
    scatter<TypeParam, back>(item, values.data(), places.data(), spread.data());
  });
  EXPECT_EQ(spread.values(), (Doubles{0, 3, 0, 4, 0, 0}));
  EXPECT_TRUE(spread.guardsIntact());
}

/// The counting sort, pair by pair.
struct Sorted {
  Integers slots, offsets;

  Sorted(const RouteParams &p, const Integers &choices) {
    auto experts = static_cast<size_t>(p.experts);
    std::vector<Integers> rows(experts + 1);
    for (size_t i = 0; i < choices.size(); ++i) {
      int32_t e = choices[i];
      bool taken = e >= 0 && e < p.experts &&
                   (p.capacity == 0 ||
                    static_cast<int64_t>(rows[static_cast<size_t>(e)].size()) < p.capacity);
      rows[taken ? static_cast<size_t>(e) : experts].push_back(static_cast<int32_t>(i));
    }
    slots.resize(choices.size());
    int32_t slot = 0;
    for (const Integers &pairs : rows) {
      offsets.push_back(slot);
      for (int32_t pair : pairs)
        slots[static_cast<size_t>(pair)] = slot++;
    }
  }
};

template <RouteParams P> void checkRoute(int64_t strangers) {
  Integers choices;
  for (uint32_t i = 0; i < P.pairs; ++i) {
    int64_t random = i * 2654435761u >> 8;
    choices.push_back(static_cast<int32_t>(random % (P.experts + strangers)) -
                      static_cast<int32_t>(strangers / 2));
  }
  Sorted expected(P, choices);
  const auto chunks = routeChunks(P);
  Integers counts(static_cast<size_t>(chunks * (P.experts + 1)), -7);
  Integers slots(choices.size(), -7), offsets(static_cast<size_t>(P.experts + 1), -7);
  cuda::test::run("routeCount", chunks, blockThreads, RouteCount::onCuda<float>(P).bytes,
                  [&](int64_t item) { routeCount<float, P>(item, choices.data(), counts.data()); });
  cuda::test::run("routeScan", 1, routeScanThreads, RouteScan::onCuda<float>(P).bytes,
                  [&](int64_t item) { routeScan<float, P>(item, counts.data(), offsets.data()); });
  cuda::test::run(
      "routePlace", chunks, blockThreads, RoutePlace::onCuda<float>(P).bytes, [&](int64_t item) {
        routePlace<float, P>(item, choices.data(), counts.data(), offsets.data(), slots.data());
      });
  EXPECT_EQ(offsets, expected.offsets);
  EXPECT_EQ(slots, expected.slots);
}

TEST(CudaRoute, SortsByExpertKeepingTheOrder) {
  checkRoute<RouteParams{8, 3, 0}>(2);
  checkRoute<RouteParams{1, 1, 0}>(0);
  checkRoute<RouteParams{1000, 8, 0}>(0);
  checkRoute<RouteParams{2000, 130, 0}>(3);
  checkRoute<RouteParams{600, 1500, 0}>(3); // more experts than threads
}
TEST(CudaRoute, LeavesWhatIsBeyondTheCapacity) {
  checkRoute<RouteParams{8, 3, 2}>(2);
  checkRoute<RouteParams{1000, 8, 100}>(3);
  checkRoute<RouteParams{2000, 130, 10}>(3);
}

TYPED_TEST(CudaRouting, CollectUndoesDispatch) {
  constexpr int64_t tokens = 5, choices = 3, columns = 151, rows = tokens * choices;
  Doubles values = randomDoubles(tokens * columns, 1);
  Tensor<TypeParam> x(values, tokens, columns, 160), sorted(rows, columns, 155);
  Tensor<TypeParam> back(rows, columns);
  Integers slots(rows);
  for (int64_t i = 0; i < rows; ++i)
    slots[static_cast<size_t>(i)] = static_cast<int32_t>((i * 7 + 4) % rows);
  // A token stands once in x, for each of its choices.
  constexpr DispatchParams params{rows, columns, choices, 160, 0, 155};
  constexpr DispatchParams reverse{rows, columns, 1, 155, 0, columns};
  auto both = [&] {
    cuda::test::run("dispatch", ceilDiv(rows, warpRows), blockThreads, 0, [&](int64_t item) {
      dispatch<TypeParam, params>(item, x.data(), slots.data(), sorted.data());
    });
    cuda::test::run("collect", ceilDiv(rows, warpRows), blockThreads, 0, [&](int64_t item) {
      collect<TypeParam, reverse>(item, sorted.data(), slots.data(), back.data());
    });
  };
  both();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t c = 0; c < columns; ++c) {
      EXPECT_EQ(back.at(row, c), x.at(row / choices, c));
      EXPECT_EQ(sorted.at(slots[static_cast<size_t>(row)], c), x.at(row / choices, c));
    }
  EXPECT_TRUE(sorted.guardsIntact() && back.guardsIntact());
  // Slots that lead outside are not followed.
  slots[3] = rows, slots[4] = -1;
  both();
  EXPECT_TRUE(sorted.guardsIntact() && back.guardsIntact());
  EXPECT_TRUE(std::isnan(static_cast<double>(back.at(3, 0))));
}

} // namespace
