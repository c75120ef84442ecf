//===- NcclTest.cpp - what ranks on GPUs do together, with the tests' NCCL -----===//
#include "runtime/cuda/GpuRanks.h"
#include "runtime/ranks/LocalRanks.h"
#include "test/unit/cuda/CudaSession.h"
#include <algorithm>
#include <functional>
#include <thread>

using namespace hybrid::rt;
using namespace hybrid::rt::cuda;

namespace {

/// One of several ranks, which are threads.
struct Rank {
  std::unique_ptr<Communicator> others;
  std::unique_ptr<Gpu> gpu;
  std::unique_ptr<GpuRanks> ranks;

  int number() const { return ranks->rank(); }
  std::vector<float> read(DeviceAddress from, size_t count) const {
    std::vector<float> values(count);
    EXPECT_RUNS(gpu->copyOut(values.data(), from, count * sizeof(float)));
    EXPECT_RUNS(gpu->synchronize());
    return values;
  }
  void write(DeviceAddress to, const std::vector<float> &values) const {
    EXPECT_RUNS(gpu->copyIn(to, values.data(), values.size() * sizeof(float)));
    EXPECT_RUNS(gpu->synchronize());
  }
};

class NcclRanksTest : public hybrid::rt::test::CudaSession {
protected:
  /// So many ranks, each in a thread, do something.
  static void onRanks(int count, const std::function<void(Rank &)> &work) {
    std::vector<std::thread> threads;
    for (auto &transport : makeLocalRanks(count))
      threads.emplace_back([&work, transport = std::move(transport)]() mutable {
        Rank rank;
        rank.others = std::make_unique<Communicator>(std::move(transport));
        auto place = placeOnMachine(*rank.others);
        ASSERT_TRUE(place) << place.error().message;
        EXPECT_EQ(*place, rank.others->rank()); // all of them are here
        auto gpu = Gpu::open(*place);
        ASSERT_TRUE(gpu) << gpu.error().message;
        rank.gpu = std::move(*gpu);
        auto joined = GpuRanks::join(*rank.gpu, *rank.others);
        ASSERT_TRUE(joined) << joined.error().message;
        rank.ranks = std::move(*joined);
        work(rank);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
};

std::vector<float> repeated(float value, size_t count) { return std::vector<float>(count, value); }

TEST_F(NcclRanksTest, SumsAreScaledByWhatLiesOnTheDevice) {
  onRanks(3, [](Rank &rank) {
    constexpr size_t count = 100000; // more than goes over at once
    auto memory = GpuMemory::allocate(*rank.gpu, (count + 8) * sizeof(float));
    ASSERT_TRUE(memory) << memory.error().message;
    const DeviceAddress values = memory->address(), factor = values + count * sizeof(float);
    const auto number = static_cast<float>(rank.number());
    rank.write(values, repeated(number + 1, count));
    rank.write(factor, {number});
    const GpuRanks::Values parts[] = {{values, 1}, {values + 4, count - 1}};
    EXPECT_RUNS(rank.ranks->beginSum(parts, DType::F32, 0));
    EXPECT_RUNS(rank.ranks->await());
    EXPECT_EQ(rank.read(values, count), repeated(6, count)); // 1 + 2 + 3
    EXPECT_RUNS(rank.ranks->beginSum(parts, DType::F32, factor));
    EXPECT_RUNS(rank.ranks->await());
    EXPECT_EQ(rank.read(values, count), repeated(18, count)); // 0 + 6 + 12
    EXPECT_EQ(rank.read(factor, 1), repeated(number, 1));
  });
}

TEST_F(NcclRanksTest, PartsAreSwappedAndStatesHandedOn) {
  onRanks(4, [](Rank &rank) {
    auto memory = GpuMemory::allocate(*rank.gpu, 256);
    ASSERT_TRUE(memory) << memory.error().message;
    const DeviceAddress from = memory->address(), to = from + 64;
    const SequenceRanks own = sequenceRanksOf(rank.number(), 2);
    const auto number = static_cast<float>(rank.number());
    rank.write(from, {10 * number, 10 * number + 1});
    EXPECT_RUNS(rank.ranks->swap(own, from, to, 8));
    const auto first = static_cast<float>(own.first), place = static_cast<float>(own.place);
    EXPECT_EQ(rank.read(to, 2), (std::vector<float>{10 * first + place, 10 * first + 10 + place}));
    if (own.place == 0) {
      EXPECT_RUNS(rank.ranks->send(rank.number() + 1, from, 8));
    } else {
      EXPECT_RUNS(rank.ranks->receive(rank.number() - 1, to, 8));
      EXPECT_EQ(rank.read(to, 2), (std::vector<float>{10 * number - 10, 10 * number - 9}));
    }
  });
}

TEST_F(NcclRanksTest, SumsArePartsOfGraphs) {
  onRanks(2, [](Rank &rank) {
    const DriverApi &driver = rank.gpu->driver();
    auto memory = GpuMemory::allocate(*rank.gpu, 256);
    ASSERT_TRUE(memory) << memory.error().message;
    rank.write(memory->address(), {1});
    ASSERT_EQ(driver.captureBegin(rank.gpu->stream(), captureThreadLocal), success);
    const GpuRanks::Values values[] = {{memory->address(), 1}};
    EXPECT_RUNS(rank.ranks->beginSum(values, DType::F32, 0));
    EXPECT_RUNS(rank.ranks->await());
    Graph graph = nullptr;
    ASSERT_EQ(driver.captureEnd(rank.gpu->stream(), &graph), success);
    GraphExec executable = nullptr;
    ASSERT_EQ(driver.graphInstantiate(&executable, graph, 0), success);
    for (int i = 0; i < 3; ++i)
      ASSERT_EQ(driver.graphLaunch(executable, rank.gpu->stream()), success);
    EXPECT_EQ(rank.read(memory->address(), 1), repeated(8, 1));
    // A sum that nothing waits for leaves a stream outside of the graph.
    ASSERT_EQ(driver.captureBegin(rank.gpu->stream(), captureThreadLocal), success);
    EXPECT_RUNS(rank.ranks->beginSum(values, DType::F32, 0));
    EXPECT_EQ(driver.captureEnd(rank.gpu->stream(), &graph), 904);
    EXPECT_EQ(driver.graphExecDestroy(executable), success);
  });
}

TEST_F(NcclRanksTest, SaysWhatToDoWithoutNccl) {
  setenv("HYBRID_NCCL", "/nonexistent/libnccl.so.2", 1);
  std::vector<std::thread> threads;
  for (auto &transport : makeLocalRanks(2))
    threads.emplace_back([transport = std::move(transport)]() mutable {
      Communicator others(std::move(transport));
      auto gpu = Gpu::open();
      ASSERT_TRUE(gpu) << gpu.error().message;
      auto joined = GpuRanks::join(**gpu, others);
      ASSERT_FALSE(joined);
      EXPECT_CONTAINS(joined.error().message, "/nonexistent/libnccl.so.2");
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
