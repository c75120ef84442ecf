//===- RouteTest.cpp - pairs of tokens and experts, by expert ----------------===//
#include "codegen/kernels/Route.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/Route.cuh"
HYBRID_TEST_KERNEL(RouteCount, , routeCount)
HYBRID_TEST_KERNEL(RouteScan, , routeScan)
HYBRID_TEST_KERNEL(RoutePlace, , routePlace)
#else
HYBRID_TEST_KERNEL(Route, route, )
#endif

using namespace hybrid;
using namespace hybrid::test;

namespace {

/// The counting sort, pair by pair: what is no expert comes last, and what is beyond the capacity.
struct Reference {
  Doubles slots, offsets;

  Reference(const RouteParams &p, const std::vector<int32_t> &choices) {
    auto experts = static_cast<size_t>(p.experts);
    std::vector<std::vector<size_t>> rows(experts + 1);
    for (size_t i = 0; i < choices.size(); ++i) {
      int32_t e = choices[i];
      bool taken = e >= 0 && e < p.experts &&
                   (p.capacity == 0 ||
                    static_cast<int64_t>(rows[static_cast<size_t>(e)].size()) < p.capacity);
      rows[taken ? static_cast<size_t>(e) : experts].push_back(i);
    }
    slots.resize(choices.size());
    double slot = 0;
    for (const auto &pairs : rows) {
      offsets.push_back(slot);
      for (size_t pair : pairs)
        slots[pair] = slot++;
    }
  }
};

template <typename Of>
void sort(const Of &of, const std::vector<int32_t> &choices, Tensor<int32_t> &slots,
          Tensor<int32_t> &offsets) {
  constexpr auto params = [](const RouteParams &p) { return p; };
#ifdef HYBRID_CUDA_SHIM
  const RouteParams p = of.value;
  Tensor<int32_t> counts(cuda::routeChunks(p), p.experts);
  launch<RouteCount, float>(of, params, {&counts}, choices.data(), counts.data());
  launch<RouteScan, float>(of, params, {&counts, &offsets}, counts.data(), offsets.data());
  launch<RoutePlace, float>(of, params, {&slots}, choices.data(), counts.data(), offsets.data(),
                            slots.data());
#else
  launch<Route, float>(of, params, {&slots, &offsets}, choices.data(), slots.data(),
                       offsets.data());
#endif
}

template <typename Of> void check(const Of &of, int64_t strangers) {
  const RouteParams p = of.value;
  SCOPED_TRACE(testing::Message() << p.pairs << " pairs, " << p.experts << " experts, capacity "
                                  << p.capacity);
  std::vector<int32_t> choices;
  for (uint32_t i = 0; i < p.pairs; ++i) {
    int64_t random = i * 2654435761u >> 8;
    choices.push_back(static_cast<int32_t>(random % (p.experts + strangers)) -
                      static_cast<int32_t>(strangers / 2));
  }
  Tensor<int32_t> slots(1, p.pairs), offsets(1, p.experts + 1);
  sort(of, choices, slots, offsets);
  Reference r(p, choices);
  EXPECT_EQ(offsets.values(), r.offsets);
  EXPECT_EQ(slots.values(), r.slots);
}

constexpr RouteParams few[] = {{8, 3, 0}, {8, 3, 2}};
TEST(Route, SortsByExpertKeepingTheOrder) {
  forEachCase<few>([](const auto &of) {
    const std::vector<int32_t> choices{2, 0, 2, 1, 0, 2, 9, -1};
    Tensor<int32_t> slots(1, 8), offsets(1, 4);
    sort(of, choices, slots, offsets);
    EXPECT_EQ(offsets.values(), of.value.capacity ? (Doubles{0, 2, 3, 5}) : (Doubles{0, 2, 3, 6}));
    EXPECT_EQ(slots.values(), (Doubles{3, 0, 4, 2, 1, 5, 6, 7}));
  });
}

constexpr RouteParams known[] = {{1, 1, 0}, {1000, 8, 0}};
constexpr RouteParams withStrangers[] = {{8, 3, 0},
                                         {2000, 130, 0},
                                         {600, 1500, 0}, // more experts than threads
                                         {700, 1, 0},
                                         {700, 2, 0},
                                         {700, 16, 0},
                                         {700, 33, 0},
                                         {700, 300, 0},
                                         {10000, 300, 0}, // more chunks than are loaded at once
                                         // These leave some out.
                                         {8, 3, 2},
                                         {1000, 8, 100},
                                         {2000, 130, 10},
                                         {700, 1, 1},
                                         {700, 2, 1},
                                         {700, 16, 1},
                                         {700, 33, 1},
                                         {700, 300, 1},
                                         {700, 1, 290},
                                         {700, 2, 150},
                                         {700, 16, 30},
                                         {700, 33, 15},
                                         {700, 300, 2},
                                         {10000, 300, 20}};
TEST(Route, SortsAsPairByPair) {
  forEachCase<known>([](const auto &of) { check(of, 0); });
  forEachCase<withStrangers>([](const auto &of) { check(of, 3); });
}

// A byte for the pairs of a warp, and sums of them, hold no more.
constexpr RouteParams crowded[] = {{1500, 5, 0}, {1500, 5, 300}};
TEST(Route, AllChooseTheSame) {
  forEachCase<crowded>([](const auto &of) {
    const RouteParams p = of.value;
    for (int32_t expert : {0, 4, 5}) {
      SCOPED_TRACE(expert);
      const std::vector<int32_t> choices(static_cast<size_t>(p.pairs), expert);
      Tensor<int32_t> slots(1, p.pairs), offsets(1, p.experts + 1);
      sort(of, choices, slots, offsets);
      Reference r(p, choices);
      EXPECT_EQ(offsets.values(), r.offsets);
      EXPECT_EQ(slots.values(), r.slots);
    }
  });
}

} // namespace
