//===- RanksTest.cpp - sums, gathers and broadcasts over ranks -----------------===//
#include "executable/OptimizerShards.h"
#include "runtime/ranks/Collectives.h"
#include "runtime/ranks/Communicator.h"
#include "runtime/ranks/LocalRanks.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <thread>

using namespace hybrid::rt;

namespace {

/// Runs `body` as each of `size` ranks, one a thread.
void onRanks(int size, const std::function<void(Transport &)> &body) {
  std::vector<std::unique_ptr<Transport>> ranks = makeLocalRanks(size);
  std::vector<std::thread> threads;
  for (auto &rank : ranks)
    threads.emplace_back([&] { body(*rank); });
  for (std::thread &thread : threads)
    thread.join();
}

/// A number of its own for each rank and element, with digits that rounding can lose.
double valueOf(int rank, size_t i) { return std::sin(static_cast<double>(rank * 7919 + 13 * i)); }

template <typename T> std::vector<T> valuesOf(int rank, size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(valueOf(rank, i));
  return values;
}

template <typename T> std::span<std::byte> bytesOf(std::vector<T> &values) {
  return std::as_writable_bytes(std::span(values));
}

} // namespace

TEST(AllReduce, SumsInTheOrderOfRanks) {
  for (int size : {1, 2, 3, 4, 7})
    for (size_t count : {size_t{1}, size_t{5}, size_t{1000}, size_t{5000}}) {
      std::vector<float> expected(count);
      for (size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (int rank = 0; rank < size; ++rank)
          sum += static_cast<double>(static_cast<float>(valueOf(rank, i)));
        expected[i] = static_cast<float>(sum);
      }
      onRanks(size, [&](Transport &transport) {
        auto values = valuesOf<float>(transport.rank(), count);
        ASSERT_TRUE(allReduce(transport, {.values = {bytesOf(values)}}));
        EXPECT_EQ(values, expected) << size << " ranks, " << count << " elements";
      });
    }
}

TEST(AllReduce, GoesInRoundsWhereItIsLarge) {
  constexpr size_t count = bytesAtOnce / sizeof(float) + 1000;
  onRanks(3, [](Transport &transport) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>((i + static_cast<size_t>(transport.rank())) % 1024);
    ASSERT_TRUE(allReduce(transport, {.values = {bytesOf(values)}}));
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(values[i], static_cast<float>(i % 1024 + (i + 1) % 1024 + (i + 2) % 1024)) << i;
  });
}

TEST(AllReduce, TakesBuffersAsOneBehindTheOther) {
  onRanks(3, [](Transport &transport) {
    auto whole = valuesOf<double>(transport.rank(), 3000);
    std::vector<double> first(whole.begin(), whole.begin() + 37), none,
        second(whole.begin() + 37, whole.end());
    const DType f64 = DType::F64;
    ASSERT_TRUE(allReduce(transport, {.values = {bytesOf(whole)}, .type = f64, .wire = f64}));
    ASSERT_TRUE(allReduce(
        transport,
        {.values = {bytesOf(first), bytesOf(none), bytesOf(second)}, .type = f64, .wire = f64}));
    first.insert(first.end(), second.begin(), second.end());
    EXPECT_EQ(first, whole);
  });
}

TEST(AllReduce, MeansAreWeighted) {
  const double weights[] = {3, 0, 1};
  for (size_t count : {size_t{2}, size_t{2000}})
    onRanks(3, [&](Transport &transport) {
      const int rank = transport.rank();
      auto values = valuesOf<float>(rank, count);
      if (rank == 1) // of no weight, so that what it has does not count
        values.assign(count, std::numeric_limits<float>::quiet_NaN());
      ASSERT_TRUE(allReduce(
          transport, {.values = {bytesOf(values)}, .isMean = true, .weight = weights[rank]}));
      for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(values[i], static_cast<float>(
                                 0.75 * static_cast<double>(static_cast<float>(valueOf(0, i))) +
                                 0.25 * static_cast<double>(static_cast<float>(valueOf(2, i)))));
    });
}

TEST(AllReduce, MeansOfNothingAreThoseOfAll) {
  onRanks(2, [](Transport &transport) {
    std::vector<float> values{static_cast<float>(transport.rank())};
    ASSERT_TRUE(allReduce(transport, {.values = {bytesOf(values)}, .isMean = true, .weight = 0}));
    EXPECT_EQ(values.front(), 0.5f);
  });
}

TEST(AllReduce, OneThatIsNoNumberMakesTheSumNone) {
  onRanks(2, [](Transport &transport) {
    std::vector<float> values{transport.rank() == 1 ? std::nanf("") : 1.0f};
    ASSERT_TRUE(allReduce(transport, {.values = {bytesOf(values)}, .isMean = true}));
    EXPECT_TRUE(std::isnan(values.front()));
  });
}

TEST(AllReduce, Bf16HalvesTheBytesAndRoundsTwice) {
  for (size_t count : {size_t{8}, size_t{8192}})
    onRanks(4, [count](Transport &transport) {
      auto rounded = valuesOf<float>(transport.rank(), count), exact = rounded;
      ASSERT_TRUE(allReduce(transport, {.values = {bytesOf(exact)}}));
      const uint64_t asF32 = transport.sentBytes();
      EXPECT_EQ(asF32, bytesToReduce(4, count, 4)) << count;
      ASSERT_TRUE(allReduce(transport, {.values = {bytesOf(rounded)}, .wire = DType::BF16}));
      EXPECT_EQ(transport.sentBytes() - asF32, bytesToReduce(4, count, 2)) << count;
      for (size_t i = 0; i < count; ++i) // 4 numbers below 1 and a sum below 4, each by 2^-9 of it
        EXPECT_NEAR(rounded[i], exact[i], 4.0 / 512 + 4.0 / 512);
    });
}

TEST(AllReduce, SendsTwiceTheBytesHoweverManyRanksThereAre) {
  constexpr uint64_t elements = 1 << 20;
  for (int size : {2, 4, 8, 64, 1024})
    EXPECT_NEAR(static_cast<double>(bytesToReduce(size, elements, 4)),
                2.0 * (size - 1) / size * 4 * elements, 64.0 * size + 8.0 * size);
}

/// The stripes of some bytes, by who owns them.
static OwnedValues stripesOf(std::span<std::byte> bytes, int ranks) {
  OwnedValues owned(static_cast<size_t>(ranks));
  hybrid::forShards(0, bytes.size(), ranks, [&](uint64_t at, uint64_t count, int rank) {
    owned[static_cast<size_t>(rank)].push_back(bytes.subspan(at, count));
  });
  return owned;
}

TEST(OptimizerShards, EveryByteHasOneOwner) {
  for (int ranks : {1, 2, 3, 7})
    for (uint64_t offset :
         {uint64_t{0}, uint64_t{64}, hybrid::shardStripe - 4, 5 * hybrid::shardStripe})
      for (uint64_t bytes : {uint64_t{4}, hybrid::shardStripe, 10 * hybrid::shardStripe + 4}) {
        uint64_t next = offset;
        std::vector<bool> owns(static_cast<size_t>(ranks));
        hybrid::forShards(offset, bytes, ranks, [&](uint64_t at, uint64_t count, int rank) {
          EXPECT_EQ(at, next);
          EXPECT_EQ(rank, hybrid::shardOwner(at, ranks));
          EXPECT_EQ(rank, hybrid::shardOwner(at + count - 1, ranks));
          owns[static_cast<size_t>(rank)] = true;
          next += count;
        });
        EXPECT_EQ(next, offset + bytes);
        for (int rank = 0; rank < ranks; ++rank)
          EXPECT_EQ(hybrid::ownsAny(offset, bytes, rank, ranks), owns[static_cast<size_t>(rank)])
              << bytes << " bytes at " << offset << ", rank " << rank << " of " << ranks;
      }
}

TEST(OptimizerShards, OwnersGetWhatAllGetFromASumOverRanks) {
  constexpr size_t count = 100000; // 12.2 stripes
  for (DType wire : {DType::F32, DType::BF16})
    for (int size : {1, 2, 3, 5})
      onRanks(size, [&](Transport &transport) {
        auto whole = valuesOf<float>(transport.rank(), count), shared = whole;
        const double weight = transport.rank() + 1;
        ASSERT_TRUE(allReduce(
            transport,
            {.values = {bytesOf(whole)}, .wire = wire, .isMean = true, .weight = weight}));
        const OwnedValues owned = stripesOf(bytesOf(shared), size);
        ASSERT_TRUE(reduceToOwners(transport, owned,
                                   {.values = {}, .wire = wire, .isMean = true, .weight = weight}));
        for (size_t i = 0; i < count; ++i)
          if (hybrid::shardOwner(i * sizeof(float), size) == transport.rank()) {
            ASSERT_EQ(shared[i], whole[i]) << "element " << i << " of " << size << " ranks";
          }
        ASSERT_TRUE(gatherFromOwners(transport, owned));
        EXPECT_EQ(shared, whole);
      });
}

TEST(OptimizerShards, TheFirstRankAloneCollects) {
  onRanks(3, [](Transport &transport) {
    std::vector<float> values(50000, static_cast<float>(transport.rank()));
    const auto before = values;
    ASSERT_TRUE(gatherToFirst(transport, stripesOf(bytesOf(values), 3)));
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], transport.rank() == 0
                               ? static_cast<float>(hybrid::shardOwner(i * sizeof(float), 3))
                               : before[i]);
  });
}

TEST(Collectives, GatherAndBroadcast) {
  onRanks(3, [](Transport &transport) {
    const std::string mine(static_cast<size_t>(transport.rank() * 2), 'a');
    auto all = gatherAll(transport, std::as_bytes(std::span(mine)));
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 3u);
    for (size_t rank = 0; rank < 3; ++rank)
      EXPECT_EQ((*all)[rank].size(), rank * 2);
    std::vector<int32_t> word{transport.rank() + 5};
    ASSERT_TRUE(broadcast(transport, bytesOf(word)));
    EXPECT_EQ(word.front(), 5);
    auto most = largest(transport, transport.rank() == 1 ? 9 : -1);
    ASSERT_TRUE(most);
    EXPECT_EQ(*most, 9);
  });
}

TEST(Collectives, FailWhereARankIsGone) {
  onRanks(3, [](Transport &transport) {
    if (transport.rank() == 2) {
      transport.abandon();
      return;
    }
    std::vector<float> values(10000);
    auto done = allReduce(transport, {.values = {bytesOf(values)}});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "rank 2 is gone");
  });
}

TEST(AllReduce, MeansOfWhatIsWeightedAlready) {
  onRanks(3, [](Transport &transport) {
    const double weights[] = {0, 3, 5};
    const double weight = weights[transport.rank()];
    // One with nothing of its own may still carry a part of the others' gradients.
    std::vector<double> values{1.5, weight, 8};
    ASSERT_TRUE(allReduce(transport, {.values = {bytesOf(values)},
                                      .type = DType::F64,
                                      .wire = DType::F64,
                                      .isMean = true,
                                      .isWeighted = true,
                                      .weight = weight}));
    EXPECT_EQ(values, (std::vector<double>{4.5 / 8, 1, 3}));
    values = {2};
    ASSERT_TRUE(allReduce(transport, {.values = {bytesOf(values)},
                                      .type = DType::F64,
                                      .wire = DType::F64,
                                      .isMean = true,
                                      .isWeighted = true,
                                      .weight = 0}));
    EXPECT_EQ(values.front(), 0) << "nothing is scored on any rank";
  });
}

TEST(Communicator, DoesWhatWasStartedInOrder) {
  std::vector<std::unique_ptr<Transport>> local = makeLocalRanks(2);
  std::vector<std::thread> threads;
  for (auto &transport : local)
    threads.emplace_back([&transport] {
      Communicator ranks(std::move(transport));
      std::vector<std::vector<float>> values;
      for (int i = 0; i < 20; ++i)
        values.push_back(valuesOf<float>(ranks.rank() + i, 3000));
      for (auto &each : values)
        ranks.start([&each](Transport &between) {
          return allReduce(between, {.values = {bytesOf(each)}});
        });
      ASSERT_TRUE(ranks.wait());
      for (int i = 0; i < 20; ++i)
        EXPECT_EQ(values[static_cast<size_t>(i)][17],
                  static_cast<float>(static_cast<double>(static_cast<float>(valueOf(i, 17))) +
                                     static_cast<double>(static_cast<float>(valueOf(i + 1, 17)))));
      EXPECT_EQ(ranks.traffic().sentBytes, 20 * bytesToReduce(2, 3000, 4));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Communicator, DoesNothingMoreAfterAFailure) {
  Communicator ranks(std::move(makeLocalRanks(1).front()));
  bool ran = false;
  ranks.start([](Transport &) -> Result<void> { return Error{"the link is cut"}; });
  ranks.start([&](Transport &) -> Result<void> {
    ran = true;
    return {};
  });
  auto done = ranks.wait();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the link is cut");
  EXPECT_FALSE(ran);
  EXPECT_FALSE(ranks.run([](Transport &transport) { return largest(transport, 1); }));
}
