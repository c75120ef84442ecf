//===- TeamTest.cpp - work that threads share ---------------------------------===//
#include "runtime/cpu/Team.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

namespace hybrid::rt {

TEST(Team, CoversEveryItemOnce) {
  for (int64_t count : {0, 1, 2, 7, 1000})
    for (int threads : {1, 2, 3, 8}) {
      std::vector<int> seen(static_cast<size_t>(count));
      parallelFor(count, threads, [&](int64_t lo, int64_t hi, int thread) {
        EXPECT_LT(thread, threads);
        for (int64_t i = lo; i < hi; ++i)
          ++seen[static_cast<size_t>(i)];
      });
      EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(count), 1));
    }
}

TEST(Team, NestsWithoutMoreThreads) {
  std::vector<int> seen(64);
  parallelFor(8, 2, [&](int64_t lo, int64_t hi, int) {
    for (int64_t i = lo; i < hi; ++i)
      parallelFor(8, 2, [&](int64_t from, int64_t to, int thread) {
        EXPECT_EQ(thread, 0);
        for (int64_t j = from; j < to; ++j)
          ++seen[static_cast<size_t>(8 * i + j)];
      });
  });
  EXPECT_EQ(seen, std::vector<int>(64, 1));
}

/// Every share is done before the next one begins, on any number of threads, whatever it was
/// before.
TEST(Team, SharesComeOneAfterAnother) {
  for (int threads : {4, 2, 7, 1, 3, 4}) {
    constexpr int64_t items = 100;
    std::array<std::vector<int64_t>, 2> values;
    values.fill(std::vector<int64_t>(items, 1));
    parallelRegion(threads, [&](Member &member) {
      for (int round = 0; round < 200; ++round) {
        const auto &from = values[static_cast<size_t>(round % 2)];
        auto &to = values[static_cast<size_t>((round + 1) % 2)];
        EXPECT_TRUE(member.share(items, 1 + round % 9, [&](int64_t lo, int64_t hi) {
          for (auto i = static_cast<size_t>(lo); i < static_cast<size_t>(hi); ++i)
            to[i] = from[(i + 37) % items] + 1;
        }));
      }
    });
    EXPECT_EQ(values[0], std::vector<int64_t>(items, 201));
  }
}

/// A thread that is held up leaves its part to the others.
TEST(Team, OthersTakeWhatASlowThreadLeaves) {
  std::array<int, 2> taken{};
  parallelRegion(2, [&](Member &member) {
    member.share(100, 1, [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(member.thread() ? 100 : 1));
      ++taken[static_cast<size_t>(member.thread())];
    });
  });
  EXPECT_EQ(taken[0] + taken[1], 100);
  EXPECT_GT(taken[0], 60);
}

/// The member that failed leaves at once, the others at that share or the next.
TEST(Team, AFailureEndsTheRegionForAll) {
  for (int round = 0; round < 200; ++round) {
    std::array<int, 3> shares{};
    parallelRegion(3, [&](Member &member) {
      while (member.share(7, 1, [&](int64_t lo, int64_t) {
        if (shares[static_cast<size_t>(member.thread())] >= round % 5 && lo == round % 7)
          member.fail();
      }))
        ++shares[static_cast<size_t>(member.thread())];
    });
    const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
    EXPECT_LE(*most, round % 5 + 1);
    EXPECT_GE(*least, 0);
    bool fine = false;
    parallelRegion(3, [&](Member &member) {
      if (member.share(3, 1, [](int64_t, int64_t) {}) && member.thread() == 0)
        fine = true;
    });
    EXPECT_TRUE(fine) << "a failure outlived its region";
  }
}

/// Handlers run between regions, not in the middle of a kernel or a product.
TEST(Team, SignalsWaitForTheEndOfARegion) {
  static std::atomic<int> handled = 0;
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { ++handled; };
  sigaction(SIGUSR1, &action, &before);
  for (int threads : {1, 2, 3}) {
    handled = 0;
    std::atomic<int> seen = 0;
    parallelRegion(threads, [&](Member &member) {
      raise(SIGUSR1); // of this thread, whatever other threads the process has
      seen += handled;
      member.share(threads, 1, [](int64_t, int64_t) {});
    });
    EXPECT_EQ(seen, 0);
    EXPECT_EQ(handled, 1); // the calling thread's; the others serve regions only
  }
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(Team, ThreadsHaveTeamsOfTheirOwn) {
  std::vector<std::thread> threads;
  std::array<int64_t, 4> sums{};
  for (size_t i = 0; i < sums.size(); ++i)
    threads.emplace_back([&sums, i] {
      std::vector<int64_t> parts(3);
      for (int round = 0; round < 50; ++round)
        parallelFor(30, 3, [&](int64_t lo, int64_t hi, int thread) {
          parts[static_cast<size_t>(thread)] += hi - lo;
        });
      sums[i] = std::accumulate(parts.begin(), parts.end(), int64_t{0});
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(sums, (std::array<int64_t, 4>{1500, 1500, 1500, 1500}));
}

} // namespace hybrid::rt
