//===- GatherExamplesTest.cpp - batches from a set that is on the device -----===//
#include "codegen/kernels/cuda/GatherExamples.cuh"
#include "test/unit/cuda/KernelTest.h"
#include <algorithm>

using namespace hybrid;
using namespace hybrid::cuda;

namespace {

constexpr int32_t untouched = -7;

/// A set for each size, with words that tell where they are from.
struct Sets {
  Sets(std::vector<uint64_t> sizes, int64_t inputWords, int64_t targetWords)
      : words(inputWords + targetWords) {
    for (uint64_t size : sizes) {
      places.push_back(memory.size() * 4);
      for (uint64_t example = 0; example < size; ++example)
        for (int64_t word = 0; word < words; ++word)
          memory.push_back(static_cast<int32_t>(places.size() << 24 | example << 8) +
                           static_cast<int32_t>(word));
      memory.resize((memory.size() + 3) / 4 * 4);
    }
  }
  int32_t at(size_t set, uint64_t example, int64_t word) const {
    return memory[places[set] / 4 + example * static_cast<uint64_t>(words) +
                  static_cast<uint64_t>(word)];
  }
  int64_t words;
  std::vector<int32_t> memory;
  std::vector<uint64_t> places;
};

/// Every row of a block of `steps` steps against the order that the host gives.
template <GatherExamplesParams P>
void expectBatches(int64_t steps, const std::vector<uint64_t> &sizes, uint64_t first) {
  const Sets sets(sizes, P.inputWords, P.targetWords);
  const auto replicas = static_cast<size_t>(P.replicas);
  auto aligned = [](int64_t words) { return (words + 3) / 4 * 4; };
  const int64_t inputs = aligned(P.rows * P.inputWords),
                row = inputs + aligned(P.rows * P.targetWords);
  std::vector<int32_t> table(static_cast<size_t>(row * steps * P.replicas), untouched);
  std::vector<BatchOrder> orders;
  for (int64_t step = 0; step < steps; ++step)
    for (size_t r = 0; r < replicas; ++r) {
      const size_t set = r % sizes.size();
      const auto place = static_cast<uint64_t>(row) * 4 * orders.size();
      orders.push_back({first + static_cast<uint64_t>(step * P.rows), 40 + r, sizes[set],
                        sets.places[set], place, place + static_cast<uint64_t>(inputs) * 4});
    }
  for (size_t r = 0; r < replicas; ++r)
    test::run("gatherExamples", steps * gatherExamplesItems(P), gatherExamplesThreads, 0,
              [&](int64_t item) {
                gatherExamples<int32_t, P>(item, orders.data() + r, sets.memory.data(),
                                           table.data());
              });
  for (size_t i = 0; i < orders.size(); ++i) {
    const BatchOrder &order = orders[i];
    const size_t set = i % replicas % sizes.size();
    const int32_t *batch = table.data() + i * static_cast<size_t>(row);
    for (int64_t b = 0; b < P.rows; ++b) {
      const uint64_t example = order.size ? shuffledExample(order.first + static_cast<uint64_t>(b),
                                                            order.size, order.seed)
                                          : 0;
      auto expected = [&](int64_t word) {
        return order.size ? sets.at(set, example, word) : untouched;
      };
      for (int64_t word = 0; word < P.inputWords; ++word)
        ASSERT_EQ(batch[b * P.inputWords + word], expected(word)) << "row " << b << " of " << i;
      for (int64_t word = 0; word < P.targetWords; ++word)
        ASSERT_EQ(batch[inputs + b * P.targetWords + word], expected(P.inputWords + word))
            << "row " << b << " of " << i;
    }
    for (int64_t word = P.rows * P.inputWords; word < inputs; ++word)
      ASSERT_EQ(batch[word], untouched);
  }
}

TEST(GatherExamples, TakesTheRowsThatTheHostWouldDraw) {
  for (uint64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 64, 100, 255, 257})
    for (uint64_t first : {uint64_t{0}, uint64_t{5}, 3 * size + 1, (uint64_t{1} << 40) + 3})
      expectBatches<GatherExamplesParams{
          .rows = 6, .inputWords = 8, .targetWords = 8, .replicas = 1}>(3, {size}, first);
}

TEST(GatherExamples, RowsOfEveryWidth) {
  expectBatches<GatherExamplesParams{
      .rows = 4, .inputWords = 256, .targetWords = 132, .replicas = 1}>(2, {37}, 30);
  expectBatches<GatherExamplesParams{.rows = 5, .inputWords = 6, .targetWords = 10, .replicas = 1}>(
      2, {37}, 30);
  expectBatches<GatherExamplesParams{.rows = 9, .inputWords = 37, .targetWords = 1, .replicas = 1}>(
      2, {37}, 30);
  expectBatches<GatherExamplesParams{.rows = 1, .inputWords = 1, .targetWords = 2, .replicas = 1}>(
      5, {3}, 0);
}

TEST(GatherExamples, EachReplicaHasItsOrderAndSet) {
  expectBatches<GatherExamplesParams{.rows = 6, .inputWords = 8, .targetWords = 8, .replicas = 3}>(
      4, {37, 0, 50}, 100);
}

} // namespace
