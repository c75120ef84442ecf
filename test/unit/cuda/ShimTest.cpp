//===- ShimTest.cpp - blocks of CUDA threads on the CPU ---------------------===//
#include "codegen/kernels/cuda/Lanes.cuh"
#include "test/cuda/shim/RaceCheck.h"
#include "test/unit/cuda/KernelTest.h"
#include <cmath>
#include <numeric>

using namespace hybrid::cuda;
using namespace hybrid::cuda::test;
namespace shim = hybrid::shim;

namespace {

using Ints = std::vector<int>;

TEST(CudaShim, ThreadsOfAllBlocksRunOnce) {
  Ints count(3 * 96);
  run("count", 3, 96, 0, [&](int64_t item) {
    EXPECT_EQ(blockDim.x, 96u);
    EXPECT_EQ(gridDim.x, 3u);
    EXPECT_EQ(blockIdx.x, static_cast<unsigned>(item));
    ++count[static_cast<size_t>(item * 96 + threadIdx.x)];
  });
  EXPECT_EQ(count, Ints(3 * 96, 1));
}

TEST(CudaShim, ReplicasAreRowsOfTheGrid) {
  // Two replicas of 128 bytes, 256 apart: a buffer of the second begins with its 64th integer.
  Ints memory(2 * 64);
  auto body = [&](int64_t item) {
    EXPECT_EQ(gridDim.x, 3u);
    EXPECT_EQ(gridDim.y, 2u);
    EXPECT_EQ(blockIdx.x, static_cast<unsigned>(item));
    if (threadIdx.x == 0) {
      int *own = ofReplica<256>(memory.data());
      own[item] += static_cast<int>(10 * (blockIdx.y + 1) + blockIdx.x);
    }
  };
  EXPECT_EQ(shim::launch("rows", 3, 32, 0, body, 2), "");
  Ints expected(2 * 64);
  for (size_t row : {0u, 1u})
    for (size_t i : {0u, 1u, 2u})
      expected[64 * row + i] = static_cast<int>(10 * (row + 1) + i);
  EXPECT_EQ(memory, expected);
}

TEST(CudaShim, BlockBarrierShowsWhatOthersWrote) {
  for (const char *order : {"forward", "reverse", "1", "2", "3"}) {
    ScopedOrder scoped(order);
    Ints result(2 * 1024);
    run("rotate", 2, 1024, 4096, [&](int64_t item) {
      auto *values = sharedMemory<int>();
      int thread = static_cast<int>(threadIdx.x);
      values[thread] = thread;
      for (int i = 0; i < 20; ++i) {
        blockBarrier();
        int next = values[(thread + 1) % 1024];
        blockBarrier();
        values[thread] = next;
      }
      result[static_cast<size_t>(item * 1024 + thread)] = values[thread];
    });
    for (int i = 0; i < 2 * 1024; ++i)
      ASSERT_EQ(result[static_cast<size_t>(i)], (i + 20) % 1024) << order;
  }
}

TEST(CudaShim, ShufflesMoveValuesWithinAWarp) {
  for (const char *order : {"forward", "reverse", "7"}) {
    ScopedOrder scoped(order);
    run("shuffle", 2, 128, 0, [&](int64_t) {
      int lane = laneIndex(), base = 100 * warpIndex();
      EXPECT_EQ(shuffle(base + lane, 5), base + 5);
      EXPECT_EQ(shuffle(base + lane, lane * 3), base + lane * 3 % 32);
      EXPECT_EQ(shuffleXor(base + lane, 9), base + (lane ^ 9));
      EXPECT_EQ(shuffleUp(base + lane, 3), base + (lane < 3 ? lane : lane - 3));
      EXPECT_EQ(shuffleDown(base + lane, 7), base + (lane > 24 ? lane : lane + 7));
      EXPECT_EQ(shuffle(static_cast<double>(lane) / 3, 31), 31. / 3);
    });
  }
}

TEST(CudaShim, ReductionsOfABlock) {
  for (const char *order : {"forward", "reverse", "11"}) {
    ScopedOrder scoped(order);
    auto check = [&]<int threads>() {
      run("reduce", 3, threads, threads / 32 * sizeof(double), [&](int64_t) {
        auto *scratch = sharedMemory<double>();
        double mine = threadIdx.x + 1;
        for (int again = 0; again < 3; ++again) {
          EXPECT_EQ((blockSum<threads>(mine, scratch)), threads * (threads + 1) / 2);
          EXPECT_EQ((blockMax<threads>(-mine, scratch)), -1);
        }
      });
    };
    check.operator()<32>();
    check.operator()<128>();
    check.operator()<1024>();
  }
}

TEST(CudaShim, WarpsMayBarrierOfTheirOwn) {
  ScopedOrder scoped("5");
  run("warps", 1, 128, 512, [&](int64_t) {
    auto *values = sharedMemory<int>();
    int thread = static_cast<int>(threadIdx.x);
    for (int i = 0; i <= warpIndex(); ++i) { // as often as the warp likes
      values[thread] = i + thread;
      warpBarrier();
      EXPECT_EQ(values[thread ^ 1], i + (thread ^ 1));
      warpBarrier();
    }
    blockBarrier();
    EXPECT_EQ(values[(thread + 32) % 128], (thread + 32) % 128 / 32 + (thread + 32) % 128);
  });
}

/// Fragments filled and read by the tables of the PTX manual (mma.m16n8k16 and mma.m16n8k8).
TEST(CudaShim, MatrixProductOfBf16) {
  auto a = randomValues<float>(16 * 16, 1), b = randomValues<float>(16 * 8, 2);
  auto c = randomValues<float>(16 * 8, 3);
  for (auto *values : {&a, &b})
    for (float &value : *values)
      value = fromBf16(toBf16(value));
  std::vector<float> result(16 * 8);
  run("mma", 1, 64, 0, [&](int64_t) {
    auto at = [](std::vector<float> &m, int row, int column, int columns) -> float & {
      return m[static_cast<size_t>(row * columns + column)];
    };
    int g = laneIndex() / 4, t = laneIndex() % 4;
    uint32_t fa[4], fb[2];
    float d[4];
    for (int i = 0; i < 4; ++i) {
      int row = i % 2 ? g + 8 : g, column = 2 * t + (i < 2 ? 0 : 8);
      fa[i] = packBf16(at(a, row, column, 16), at(a, row, column + 1, 16));
      d[i] = at(c, i < 2 ? g : g + 8, 2 * t + i % 2, 8);
    }
    for (int i = 0; i < 2; ++i)
      fb[i] = packBf16(at(b, 2 * t + 8 * i, g, 8), at(b, 2 * t + 8 * i + 1, g, 8));
    mmaBf16(d, fa, fb);
    if (warpIndex() == 1)
      for (int i = 0; i < 4; ++i)
        at(result, i < 2 ? g : g + 8, 2 * t + i % 2, 8) = d[i];
  });
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j) {
      double sum = c[i * 8 + j];
      for (size_t k = 0; k < 16; ++k)
        sum += static_cast<double>(a[i * 16 + k]) * b[k * 8 + j];
      EXPECT_NEAR(result[i * 8 + j], sum, 1e-5);
    }
}

TEST(CudaShim, MatrixProductOfTf32) {
  auto a = randomValues<float>(16 * 8, 1), b = randomValues<float>(8 * 8, 2);
  auto c = randomValues<float>(16 * 8, 3);
  std::vector<float> result(16 * 8);
  run("mma", 1, 32, 0, [&](int64_t) {
    auto at = [](std::vector<float> &m, int row, int column) -> float & {
      return m[static_cast<size_t>(row * 8 + column)];
    };
    int g = laneIndex() / 4, t = laneIndex() % 4;
    uint32_t fa[4], fb[2];
    float d[4];
    for (int i = 0; i < 4; ++i) {
      fa[i] = toTf32(at(a, i % 2 ? g + 8 : g, i < 2 ? t : t + 4));
      d[i] = at(c, i < 2 ? g : g + 8, 2 * t + i % 2);
    }
    for (int i = 0; i < 2; ++i)
      fb[i] = toTf32(at(b, t + 4 * i, g));
    mmaTf32(d, fa, fb);
    for (int i = 0; i < 4; ++i)
      at(result, i < 2 ? g : g + 8, 2 * t + i % 2) = d[i];
  });
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j) {
      double sum = c[i * 8 + j];
      for (size_t k = 0; k < 8; ++k)
        sum += static_cast<double>(fromBits(toTf32(a[i * 8 + k]))) * fromBits(toTf32(b[k * 8 + j]));
      EXPECT_NEAR(result[i * 8 + j], sum, 1e-5);
    }
}

TEST(CudaShim, RoundsToShortFormatsAsAGpuDoes) {
  EXPECT_EQ(toBf16(1.f).bits, 0x3f80);
  EXPECT_EQ(toBf16(fromBits(0x3f808000)).bits, 0x3f80); // a tie, to even
  EXPECT_EQ(toBf16(fromBits(0x3f818000)).bits, 0x3f82);
  EXPECT_EQ(toBf16(fromBits(0x7f7fffff)).bits, 0x7f80);
  EXPECT_EQ(toBf16(notANumber<float>()).bits, 0x7fff);
  EXPECT_EQ(toTf32(fromBits(0x3f801000)), 0x3f802000u); // a tie, away from zero
  EXPECT_EQ(toTf32(fromBits(0xbf800fff)), 0xbf800000u);
  EXPECT_EQ(toTf32(infinity<float>()), 0x7f800000u);
}

TEST(CudaShim, SharedMemoryBeginsAsNotANumber) {
  run("poison", 2, 32, 256, [&](int64_t) {
    auto *values = sharedMemory<float>();
    EXPECT_TRUE(std::isnan(values[threadIdx.x]));
    warpBarrier();
    values[threadIdx.x] = 1;
  });
}

TEST(CudaShim, ReportsWritesBeyondSharedMemory) {
  std::string problem = shim::launch("beyond", 4, 64, 256, [&](int64_t item) {
    if (item == 2)
      sharedMemory<int>()[threadIdx.x + 1] = 7;
  });
  EXPECT_EQ(problem,
            "kernel 'beyond', block 2: byte 256 of shared memory was written, and 256 were "
            "asked for");
  problem = shim::launch("before", 1, 32, 0, [&](int64_t) { *sharedMemory<int>(-4) = 7; });
  EXPECT_EQ(problem, "kernel 'before', block 0: byte -1 of shared memory was written");
}

TEST(CudaShim, ReportsThreadsThatMissABarrier) {
  ScopedOrder scoped("forward");
  EXPECT_EQ(
      shim::launch("returns", 2, 64, 0,
                   [&](int64_t) {
                     if (threadIdx.x < 40)
                       blockBarrier();
                   }),
      "kernel 'returns', block 0: thread 32 waits at a block barrier, but thread 40 of its warp "
      "has returned");
  EXPECT_EQ(
      shim::launch("warps", 1, 128, 0,
                   [&](int64_t) {
                     if (warpIndex() == 1)
                       blockBarrier();
                   }),
      "kernel 'warps', block 0: thread 0 has returned, but thread 32 waits at a block barrier");
  EXPECT_EQ(
      shim::launch("mixed", 1, 32, 0,
                   [&](int64_t) {
                     if (laneIndex() == 31)
                       warpBarrier();
                     else
                       shuffleXor(1, 1);
                   }),
      "kernel 'mixed', block 0: thread 0 waits at a shuffle, but thread 31 of its warp waits at a "
      "warp barrier");
  // Nothing of it is left for the next launch.
  int64_t sum = 0;
  run("after", 2, 128, 0, [&](int64_t) {
    blockBarrier();
    sum += threadIdx.x;
  });
  EXPECT_EQ(sum, 2 * 127 * 64);
}

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
TEST(CudaShim, ReportsWhatAGpuFaultsOn) {
  std::string problem = shim::launch("misaligned", 1, 32, 256, [&](int64_t) {
    auto *pairs = sharedMemory<uint32_t>(threadIdx.x == 5 ? 2 : 0);
    blockBarrier();
    *pairs = 1;
  });
  EXPECT_EQ(problem,
            "kernel 'misaligned', block 0: thread 5 uses an address that is not a multiple of "
            "its type's alignment");
  float sum = 0;
  problem = shim::launch("bounds", 1, 32, 0, [&](int64_t) {
    float registers[4] = {1, 2, 3, 4};
    volatile uint32_t index = threadIdx.x == 9 ? 4 : threadIdx.x % 4;
    sum += registers[index];
  });
  EXPECT_EQ(problem,
            "kernel 'bounds', block 0: thread 9 uses an element that its array does not have");
}
#endif

TEST(CudaShim, RaceCheckKnowsWhatBarriersOrder) {
  shim::RaceCheck check;
  auto ok = [&](uint32_t thread, bool write) { return check.access(thread, 8, 4, write).empty(); };
  check.blockBarrier();
  EXPECT_TRUE(ok(3, true));
  EXPECT_TRUE(ok(3, false));
  EXPECT_FALSE(ok(4, false));
  check.warpBarrier(0);
  EXPECT_TRUE(ok(4, false)); // of the same warp
  EXPECT_FALSE(ok(40, false));
  check.blockBarrier();
  EXPECT_TRUE(ok(40, false));
  EXPECT_TRUE(ok(41, false));
  EXPECT_FALSE(ok(40, true)); // 41 reads
  check.warpBarrier(1);
  EXPECT_TRUE(ok(40, true));
  check.blockBarrier();
  EXPECT_TRUE(ok(1, false));
  EXPECT_TRUE(ok(33, false));
  check.warpBarrier(0);
  check.warpBarrier(1);
  EXPECT_FALSE(ok(1, true)); // readers of two warps
  EXPECT_EQ(check.access(1, 6, 4, true),
            "race: thread 1 writes byte 8 of shared memory, which several "
            "threads read with no barrier between");
}

TEST(CudaShimDeathTest, NamesTheThreadThatCrashes) {
  auto crash = [] {
    run("crash", 3, 64, 0, [&](int64_t item) {
      blockBarrier();
      if (item == 1 && threadIdx.x == 37)
        *reinterpret_cast<volatile int *>(16) = 1;
    });
  };
  EXPECT_DEATH(crash(), "kernel 'crash', block 1, thread 37: an access of memory|AddressSanitizer");
}

TEST(CudaShim, ReportsLaunchesThatNoGpuTakes) {
  auto nothing = [](int64_t) {};
  EXPECT_EQ(shim::launch("k", 1, 48, 0, nothing),
            "kernel 'k': a block of 48 threads; it takes a multiple of 32 up to 1024");
  EXPECT_EQ(shim::launch("k", 1, 2048, 0, nothing),
            "kernel 'k': a block of 2048 threads; it takes a multiple of 32 up to 1024");
  EXPECT_EQ(shim::launch("k", 1, 32, 232449, nothing),
            "kernel 'k': 232449 bytes of shared memory; a block has at most 232448");
  EXPECT_EQ(shim::launch("k", 0, 32, 0, nothing), "kernel 'k': a grid of 0 x 1 blocks");
  EXPECT_EQ(shim::launch("k", 1, 32, 0, nothing, 65536), "kernel 'k': a grid of 1 x 65536 blocks");
  ScopedOrder scoped("backward");
  EXPECT_EQ(shim::launch("k", 1, 32, 0, nothing),
            "kernel 'k': HYBRID_SHIM_ORDER is 'backward'; it takes forward, reverse, or a number");
}

TEST(CudaShim, CopiesArriveWhenTheyAreWaitedFor) {
  alignas(16) float source[2 * 32 * 4];
  for (int i = 0; i < 256; ++i)
    source[i] = static_cast<float>(i);
  run("copies", 2, 32, sizeof(source), [&](int64_t) {
    auto *tile = sharedMemory<float>();
    int at = laneIndex() * 4;
    copyAsync<16>(tile + at, source + at, true);
    commitCopies();
    copyAsync<16>(tile + 128 + at, source + 128 + at, laneIndex() != 3);
    commitCopies();
    waitCopies<1>();
    EXPECT_EQ(tile[at + 1], source[at + 1]);
    EXPECT_TRUE(std::isnan(tile[128 + at]));
    waitCopies<0>();
    EXPECT_EQ(tile[128 + at], laneIndex() == 3 ? 0 : source[128 + at]);
    warpBarrier();
    EXPECT_EQ(tile[128 + (at ^ 4)], laneIndex() == 2 ? 0 : source[128 + (at ^ 4)]);
  });
  std::string problem = shim::launch("copies", 1, 32, 1024, [&](int64_t) {
    copyAsync<16>(sharedMemory<float>() + 1, source, true);
  });
  EXPECT_NE(problem.find("not a multiple of its type's alignment"), std::string::npos);
}

#if __has_feature(thread_sanitizer)
TEST(CudaShim, ReportsRaces) {
  ScopedOrder scoped("forward");
  EXPECT_EQ(
      shim::launch("racy", 1, 64, 256,
                   [&](int64_t) {
                     auto *values = sharedMemory<int>();
                     values[threadIdx.x] = 1;
                     warpBarrier();
                     EXPECT_EQ(values[threadIdx.x ^ 1], 1);
                     values[threadIdx.x ^ 33] = 2;
                   }),
      "kernel 'racy', block 0: race: thread 32 writes byte 128 of shared memory, which thread 1 "
      "wrote with no barrier between");
}

/// As kernels read and write most of what they share: 16 bytes at a time.
TEST(CudaShim, ReportsRacesOfVectors) {
  ScopedOrder scoped("forward");
  auto racy = [](bool barrier) {
    return shim::launch("vectors", 1, 64, 1024, [&](int64_t) {
      auto *values = sharedMemory<float>();
      auto own = static_cast<float>(threadIdx.x);
      storePack(values + 4 * threadIdx.x, Pack<float, 4>{{own, own, own, own}});
      if (barrier)
        blockBarrier();
      float next[4];
      readVectors(values + 4 * ((threadIdx.x + 1) % 64), next);
      [[maybe_unused]] volatile float used = next[0] + next[3];
    });
  };
  EXPECT_EQ(racy(true), "");
  EXPECT_NE(racy(false).find("race: thread 1 writes byte 16 of shared memory, which thread 0 read"),
            std::string::npos)
      << racy(false);
}
#else
TEST(CudaShim, OrderShowsAMissingBarrier) {
  auto sumOfNeighbours = [](const char *order) {
    ScopedOrder scoped(order);
    Ints result(64);
    run("racy", 1, 64, 256, [&](int64_t) {
      auto *values = sharedMemory<int>();
      values[threadIdx.x] = static_cast<int>(threadIdx.x);
      result[threadIdx.x] = values[(threadIdx.x + 1) % 64]; // a barrier is missing before
    });
    return result;
  };
  Ints forward = sumOfNeighbours("forward"), reverse = sumOfNeighbours("reverse");
  EXPECT_NE(forward, reverse);
  EXPECT_NE(sumOfNeighbours("1"), forward);
  EXPECT_NE(sumOfNeighbours("1"), sumOfNeighbours("2"));
  EXPECT_EQ(sumOfNeighbours("1"), sumOfNeighbours("1"));
}

#endif

TEST(CudaShim, AStackTakesLargeFrames) {
  run("frames", 1, 1024, 0, [&](int64_t) {
    volatile double registers[8000];
    for (int i = 0; i < 8000; ++i)
      registers[i] = threadIdx.x;
    blockBarrier();
    EXPECT_EQ(registers[7999], threadIdx.x);
    EXPECT_EQ(registers[0], threadIdx.x);
  });
}

} // namespace
