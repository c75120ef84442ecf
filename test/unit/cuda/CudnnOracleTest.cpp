//===- CudnnOracleTest.cpp - our graphs in the real cuDNN -------------------===//
//
// The library matches a graph with its engines, compiles a kernel and says what workspace it takes
// for a device that it is only told of. So what it accepts is known without a GPU; what it computes
// is not. Skipped where there is no cuDNN; HYBRID_CUDNN_ORACLE names its file, else the loader
// looks for libcudnn.so.9. It wants NVRTC beside it.
//
//===----------------------------------------------------------------------===//
#include "executable/AttentionMemory.h"
#include "runtime/cuda/CudnnAttention.h"
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace hybrid;
using namespace hybrid::rt::cuda;

namespace {

/// The properties that cudnnBackendFinalize asks for, of a device of compute capability `version`.
std::string deviceJson(int version, int multiprocessors, int sharedBytes) {
  return fmt::format(
      R"({{"cudaDeviceId": 0, "deviceVer": {}, "driverVer": 13000, "deviceName": "described",)"
      R"( "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],)"
      R"( "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "regsPerBlock": 65536,)"
      R"( "maxRegistersPerSM": 65536, "multiProcessorCount": {}, "smClockRateKHz": 1980000,)"
      R"( "memClockRateKHz": 3201000, "memoryBusWidth": 6144, "l2CacheSize": 62914560,)"
      R"( "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": {},)"
      R"( "maxSharedMemoryPerSM": 233472, "reservedSharedMemoryPerBlock": 1024,)"
      R"( "oversizedSharedMemoryPerBlock": 0, "pciDeviceId": 0, "maxCtasPerSM": 32,)"
      R"( "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": 150000000000}})",
      version, multiprocessors, sharedBytes);
}

class CudnnOracle : public testing::Test {
protected:
  void SetUp() override {
    // Before the library looks for libcuda.so.1: the loader then takes the one that is there.
    ASSERT_NE(dlopen(HYBRID_DEVICE_FREE_DRIVER, RTLD_NOW | RTLD_GLOBAL), nullptr) << dlerror();
    if (const char *chosen = std::getenv("HYBRID_CUDNN_ORACLE"))
      setenv("HYBRID_CUDNN", chosen, 1);
    else
      unsetenv("HYBRID_CUDNN");
    auto opened = openCudnn();
    if (!opened)
      GTEST_SKIP() << opened.error().message;
    api = *opened;
    RecordProperty("version", versionText(*api));
    if (!dlopen("libnvrtc.so.13", RTLD_NOW) && !dlopen("libnvrtc.so.12", RTLD_NOW))
      GTEST_SKIP() << "no NVRTC beside cuDNN";
  }

  /// The library's error, or nothing. `bytes`: the workspace.
  std::string refusal(const std::string &device, AttentionShape shape, uint64_t &bytes) {
    DnnObject properties(*api, dnn::kindDeviceProperties);
    properties.set<char>(dnn::deviceJson, dnn::typeChar,
                         std::span(device.c_str(), device.size() + 1));
    if (auto done = properties.finish(); !done)
      return done.error().message;
    auto ofRows = [&](int64_t rows, int64_t heads) {
      return AttentionStrides{heads * rows * shape.headSize, shape.headSize, rows * shape.headSize};
    };
    shape.q = shape.o = shape.dO = shape.dq = ofRows(shape.length, shape.heads);
    shape.k = shape.v = shape.dk = shape.dv = ofRows(shape.keyLength, shape.kvHeads);
    auto plan = AttentionPlan::create(*api, {nullptr, properties.get()}, shape);
    if (!plan)
      return plan.error().message;
    bytes = (*plan)->workspaceBytes();
    AttentionOperands somewhere{256, 256, 256, 256, 256, 256, 256, 256, 256, 256};
    auto bound = (*plan)->bind(somewhere, 256);
    return bound ? "" : bound.error().message;
  }
  void expectTaken(const std::string &device, const AttentionShape &shape, uint64_t most) {
    uint64_t bytes = 0;
    EXPECT_EQ(refusal(device, shape, bytes), "");
    EXPECT_LE(bytes, most) << "heads of " << shape.headSize;
  }

  const std::string h200 = deviceJson(900, 132, 232448), a100 = deviceJson(800, 108, 166912);
  const CudnnApi *api = nullptr;
};

AttentionShape shapeOf(int64_t batch, int64_t length, int64_t keyLength, int64_t heads,
                       int64_t kvHeads, int64_t size, bool causal, bool backward) {
  AttentionShape shape;
  shape.batch = batch, shape.length = length, shape.keyLength = keyLength, shape.heads = heads,
  shape.kvHeads = kvHeads, shape.headSize = size;
  shape.causal = causal, shape.backward = backward, shape.scale = 0.125;
  return shape;
}

TEST_F(CudnnOracle, HasEnginesForAllHeads) {
  for (int64_t size : {64, 72, 128, 256})
    for (bool causal : {true, false}) {
      if (!causal && size != 64) // compiling takes its time
        continue;
      expectTaken(h200, shapeOf(2, 512, 512, 4, 4, size, causal, false),
                  attentionWorkspace(false, 8, 512, 512, 64, false));
      expectTaken(h200, shapeOf(2, 512, 512, 4, 4, size, causal, true),
                  attentionWorkspace(true, 8, 512, 512, 64, false));
    }
}

TEST_F(CudnnOracle, HasEnginesForOddSizesAndSharedKeys) {
  for (bool backward : {false, true}) {
    expectTaken(h200, shapeOf(2, 300, 300, 4, 2, 128, true, backward),
                attentionWorkspace(backward, 8, 300, 300, 128, true));
    expectTaken(h200, shapeOf(1, 100, 300, 2, 1, 64, false, backward),
                attentionWorkspace(backward, 2, 100, 300, 64, true));
    expectTaken(h200, shapeOf(1, 37, 37, 2, 2, 8, true, backward),
                attentionWorkspace(backward, 2, 37, 37, 8, false));
  }
}

TEST_F(CudnnOracle, TheA100HasNoGradientOfWideHeads) {
  uint64_t bytes = 0;
  EXPECT_EQ(refusal(a100, shapeOf(2, 512, 512, 4, 4, 128, true, true), bytes), "");
  EXPECT_EQ(refusal(a100, shapeOf(2, 512, 512, 4, 4, 256, true, false), bytes), "");
  EXPECT_NE(refusal(a100, shapeOf(2, 512, 512, 4, 4, 256, true, true), bytes), "");
}

} // namespace
