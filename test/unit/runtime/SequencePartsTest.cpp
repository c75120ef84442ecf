//===- SequencePartsTest.cpp - what ranks with parts of a sequence give each other ---===//
#include "runtime/ranks/SequenceParts.h"
#include "runtime/ranks/LocalRanks.h"
#include <functional>
#include <gtest/gtest.h>
#include <thread>

using namespace hybrid::rt;

namespace {

/// Runs `body` as each of `size` ranks, one a thread.
void onRanks(int size, const std::function<void(Communicator &)> &body) {
  std::vector<std::unique_ptr<Transport>> ranks = makeLocalRanks(size);
  std::vector<std::thread> threads;
  for (auto &rank : ranks)
    threads.emplace_back([&] {
      Communicator communicator(std::move(rank));
      body(communicator);
    });
  for (std::thread &thread : threads)
    thread.join();
}

std::span<std::byte> bytesOf(std::vector<int> &values) {
  return std::as_writable_bytes(std::span(values));
}

} // namespace

TEST(SequenceParts, NeighboursHaveOneSequence) {
  const SequenceRanks ranks = sequenceRanksOf(6, 4);
  EXPECT_EQ(ranks.first, 4);
  EXPECT_EQ(ranks.size, 4);
  EXPECT_EQ(ranks.place, 2);
}

TEST(SequenceParts, AllGiveEachOtherTheirParts) {
  for (int count : {2, 4})
    onRanks(count, [&](Communicator &ranks) {
      // Two sequences of two ranks each, where there are four.
      const int parts = 2, first = ranks.rank() / parts * parts;
      std::vector<int> send, receive(6), expected;
      for (int part = 0; part < parts; ++part)
        for (int i = 0; i < 3; ++i) {
          send.push_back(100 * ranks.rank() + 10 * part + i);
          expected.push_back(100 * (first + part) + 10 * (ranks.rank() - first) + i);
        }
      ASSERT_TRUE(exchangeParts(&ranks, RankPattern::All, parts, bytesOf(send), bytesOf(receive)));
      EXPECT_EQ(receive, expected);
    });
}

TEST(SequenceParts, StatesGoToOneNeighbour) {
  onRanks(4, [](Communicator &ranks) {
    for (bool isForward : {true, false}) {
      std::vector<int> state{7, 7}, mine{ranks.rank() + 1, -ranks.rank()};
      // Each waits for what the one before has made of what came to that.
      ASSERT_TRUE(exchangeParts(&ranks,
                                isForward ? RankPattern::FromPrevious : RankPattern::FromNext, 4,
                                {}, bytesOf(state)));
      mine[0] += state[0];
      ASSERT_TRUE(exchangeParts(&ranks, isForward ? RankPattern::ToNext : RankPattern::ToPrevious,
                                4, bytesOf(mine), {}));
      const int sums[] = {1, 3, 6, 10}, back[] = {10, 9, 7, 4};
      EXPECT_EQ(mine[0], (isForward ? sums : back)[ranks.rank()]);
    }
  });
}

TEST(SequenceParts, ARankKnowsItsPlace) {
  onRanks(4, [](Communicator &ranks) {
    std::vector<int> place{-1};
    ASSERT_TRUE(exchangeParts(&ranks, RankPattern::Place, 2, {}, bytesOf(place)));
    EXPECT_EQ(place[0], ranks.rank() % 2);
    EXPECT_EQ(ranks.traffic().sentBytes, 0u);
  });
}

TEST(SequenceParts, GathersInTheOrderOfParts) {
  onRanks(4, [](Communicator &ranks) {
    std::vector<int> mine{ranks.rank()};
    auto all = gatherParts(ranks, 2, bytesOf(mine));
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 2u);
    for (int part = 0; part < 2; ++part)
      EXPECT_EQ(*reinterpret_cast<const int *>((*all)[static_cast<size_t>(part)].data()),
                ranks.rank() / 2 * 2 + part);
  });
}

TEST(SequenceParts, SaysHowManyRanksItTakes) {
  std::vector<int> state(1);
  auto alone = exchangeParts(nullptr, RankPattern::FromPrevious, 4, {}, bytesOf(state));
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("start 4 (or a multiple) with `mpirun -n 4"),
            std::string::npos);
  onRanks(3, [](Communicator &ranks) {
    std::vector<int> state(1);
    auto three = exchangeParts(&ranks, RankPattern::FromPrevious, 2, {}, bytesOf(state));
    ASSERT_FALSE(three);
    EXPECT_EQ(three.error().message, "this program is one of 2 ranks' parts of a sequence, and 3 "
                                     "train together: expected a multiple of 2");
  });
}
