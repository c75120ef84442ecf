//===- ShimDriverTest.cpp - the tests' CUDA driver and cuBLASLt -------------===//
#include "runtime/cuda/CublasLtApi.h"
#include "runtime/cuda/DriverApi.h"
#include "test/unit/cuda/KernelTest.h"
#include <cmath>
#include <dlfcn.h>
#include <fstream>
#include <iterator>

using namespace hybrid::rt::cuda;
using namespace hybrid::cuda::test;

namespace {

class ShimDriver : public testing::Test {
protected:
  void SetUp() override {
    library = dlopen(HYBRID_SHIM_DRIVER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
#define HYBRID_LOAD(name, symbol, parameters)                                                      \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, symbol));                   \
  ASSERT_NE(driver.name, nullptr) << symbol;
    HYBRID_CUDA_DRIVER_CALLS(HYBRID_LOAD)
#undef HYBRID_LOAD
#define HYBRID_LOAD(name, symbol, result, parameters)                                              \
  blas.name = reinterpret_cast<decltype(blas.name)>(dlsym(library, symbol));                       \
  ASSERT_NE(blas.name, nullptr) << symbol;
    HYBRID_CUBLASLT_CALLS(HYBRID_LOAD)
#undef HYBRID_LOAD
    ASSERT_EQ(driver.init(0), success);
    ASSERT_EQ(driver.contextRetain(&context, 0), success);
    ASSERT_EQ(driver.contextSet(context), success);
    ASSERT_EQ(driver.streamCreate(&stream, streamNonBlocking), success);
  }
  void TearDown() override {
    EXPECT_EQ(driver.contextRelease(0), success);
    dlclose(library);
  }

  Module loadImage() {
    std::ifstream file(HYBRID_TEST_IMAGE, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    Module module = nullptr;
    EXPECT_EQ(driver.moduleLoad(&module, bytes.data(), 0, nullptr, nullptr), success);
    return module;
  }
  Function find(Module module, const char *name) {
    Function function = nullptr;
    EXPECT_EQ(driver.moduleFunction(&function, module, name), success);
    return function;
  }
  DeviceAddress allocate(size_t bytes) {
    DeviceAddress address = 0;
    EXPECT_EQ(driver.allocate(&address, bytes), success);
    return address;
  }
  template <typename T> DeviceAddress upload(const std::vector<T> &values) {
    DeviceAddress address = allocate(values.size() * sizeof(T));
    EXPECT_EQ(driver.copyToDevice(address, values.data(), values.size() * sizeof(T), stream),
              success);
    return address;
  }
  template <typename T> std::vector<T> download(DeviceAddress address, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(driver.copyToHost(values.data(), address, count * sizeof(T), stream), success);
    EXPECT_EQ(driver.streamSynchronize(stream), success);
    return values;
  }
  Status launch(Function function, unsigned blocks, unsigned threads, unsigned shared,
                std::vector<uint64_t> values) {
    std::vector<void *> parameters;
    for (uint64_t &value : values)
      parameters.push_back(&value);
    LaunchConfiguration configuration;
    configuration.gridX = blocks, configuration.blockX = threads;
    configuration.sharedBytes = shared, configuration.stream = stream;
    return driver.launch(&configuration, function, parameters.data(), nullptr);
  }
  std::string text(Status status) {
    const char *text = nullptr;
    driver.errorText(status, &text);
    return text ? text : "";
  }

  void *library = nullptr;
  DriverApi driver;
  CublasLtApi blas;
  Context context = nullptr;
  Stream stream = nullptr;
};

TEST_F(ShimDriver, LaunchesCapturesAndReplays) {
  Module module = loadImage();
  Function rowSums = find(module, "row_sums");
  std::vector<float> x(5 * 100);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i / 100 + 1);
  DeviceAddress from = upload(x), to = allocate(5 * sizeof(float));
  EXPECT_TRUE(std::isnan(download<float>(to, 5)[4])); // nobody wrote it
  ASSERT_EQ(driver.fill(to, 0, 5 * sizeof(float), stream), success);
  EXPECT_EQ(launch(rowSums, 3, 128, 16, {from, to, 2}), success); // items 2, 3, 4
  EXPECT_EQ(download<float>(to, 5), (std::vector<float>{0, 0, 300, 400, 500}));

  Graph graph = nullptr;
  GraphExec executable = nullptr;
  ASSERT_EQ(driver.captureBegin(stream, captureThreadLocal), success);
  EXPECT_EQ(driver.fill(to, 0, 8, stream), success);
  EXPECT_EQ(launch(rowSums, 5, 128, 16, {from, to, 0}), success);
  ASSERT_EQ(driver.captureEnd(stream, &graph), success);
  EXPECT_EQ(download<float>(to, 5)[4], 500); // only captured
  ASSERT_EQ(driver.graphInstantiate(&executable, graph, 0), success);
  ASSERT_EQ(driver.graphDestroy(graph), success);
  EXPECT_EQ(driver.graphLaunch(executable, stream), success);
  EXPECT_EQ(driver.graphLaunch(executable, stream), success);
  EXPECT_EQ(download<float>(to, 5), (std::vector<float>{100, 200, 900, 1200, 1500}));
  EXPECT_EQ(driver.graphExecDestroy(executable), success);
  EXPECT_EQ(driver.moduleUnload(module), success);
  EXPECT_NE(launch(rowSums, 1, 128, 16, {from, to, 0}), success);
}

/// Two streams write one byte: in which order, only an event says.
TEST_F(ShimDriver, GraphsRunInOrdersThatOnlyEdgesForbid) {
  Stream other = nullptr;
  Event parted = nullptr, written = nullptr;
  ASSERT_EQ(driver.streamCreate(&other, streamNonBlocking), success);
  for (Event *event : {&parted, &written})
    ASSERT_EQ(driver.eventCreate(event, eventDisableTiming), success);
  const DeviceAddress byte = allocate(1);
  for (bool waits : {false, true}) {
    ASSERT_EQ(driver.captureBegin(stream, captureThreadLocal), success);
    EXPECT_EQ(driver.fill(byte, 1, 1, stream), success);
    EXPECT_EQ(driver.eventRecord(parted, stream), success);
    EXPECT_EQ(driver.streamWait(other, parted, 0), success);
    EXPECT_EQ(driver.fill(byte, 2, 1, other), success);
    EXPECT_EQ(driver.eventRecord(written, other), success);
    if (waits)
      EXPECT_EQ(driver.streamWait(stream, written, 0), success);
    EXPECT_EQ(driver.fill(byte, 3, 1, stream), success);
    if (!waits)
      EXPECT_EQ(driver.streamWait(stream, written, 0), success);
    Graph graph = nullptr;
    ASSERT_EQ(driver.captureEnd(stream, &graph), success);
    GraphExec executable = nullptr;
    ASSERT_EQ(driver.graphInstantiate(&executable, graph, 0), success);
    for (int launch = 0; launch < 2; ++launch) {
      EXPECT_EQ(driver.graphLaunch(executable, stream), success);
      EXPECT_EQ(download<uint8_t>(byte, 1)[0], waits ? 3 : 2) << "launch " << launch;
    }
  }
  // An event of an earlier capture is none of this one.
  Graph graph = nullptr;
  ASSERT_EQ(driver.captureBegin(stream, captureThreadLocal), success);
  EXPECT_EQ(driver.streamWait(stream, written, 0), 900);
  EXPECT_EQ(driver.captureEnd(stream, &graph), success);
  EXPECT_EQ(driver.streamDestroy(other), success);
}

TEST_F(ShimDriver, SharedMemoryBeyond48KBMustBeAsked) {
  Function large = find(loadImage(), "large");
  DeviceAddress result = upload(std::vector<int>{0});
  EXPECT_EQ(launch(large, 1, 64, 65536, {result, 0}), errorInvalidValue);
  EXPECT_EQ(text(errorInvalidValue),
            "cuLaunchKernelEx of 'large': 65536 bytes of shared memory, and "
            "cuFuncSetAttribute allowed 49152");
  EXPECT_EQ(driver.functionSet(large, functionMaxDynamicShared, 232449), errorInvalidValue);
  ASSERT_EQ(driver.functionSet(large, functionMaxDynamicShared, 65536), success);
  EXPECT_EQ(launch(large, 1, 64, 65536, {result, 0}), success);
  EXPECT_EQ(download<int>(result, 1)[0], 1);
  EXPECT_EQ(launch(large, 1, 128, 65536, {result, 0}), errorInvalidValue);
}

TEST_F(ShimDriver, ReportsWhatAKernelDoesWrong) {
  Function overrun = find(loadImage(), "overrun");
  int onHost[32];
  DeviceAddress small = allocate(31 * sizeof(int));
  EXPECT_EQ(launch(overrun, 1, 32, 0, {reinterpret_cast<uint64_t>(onHost), 0}), 700);
  EXPECT_EQ(text(700), "kernel 'overrun': argument 0 is not in the device's memory");
  EXPECT_EQ(launch(overrun, 1, 32, 0, {small, 0}), 700); // as every call from now on
  EXPECT_EQ(driver.streamSynchronize(stream), 700);
  // A new context is a new start.
  ASSERT_EQ(driver.contextRelease(0), success);
  ASSERT_EQ(driver.contextRetain(&context, 0), success);
  ASSERT_EQ(driver.streamCreate(&stream, streamNonBlocking), success);
  small = allocate(31 * sizeof(int));
  EXPECT_EQ(launch(find(loadImage(), "overrun"), 1, 32, 0, {small, 0}), 700);
  EXPECT_EQ(text(700), "kernel 'overrun' wrote beyond an allocation of 124 bytes");
  ASSERT_EQ(driver.contextRelease(0), success);
  ASSERT_EQ(driver.contextRetain(&context, 0), success);
  ASSERT_EQ(driver.streamCreate(&stream, streamNonBlocking), success);
  EXPECT_EQ(launch(find(loadImage(), "diverges"), 1, 64, 0, {0, 0}), 719);
  EXPECT_NE(text(719).find("kernel 'diverges', block 0: thread "), std::string::npos);
}

TEST_F(ShimDriver, RefusesWhatAGpuRefuses) {
  DeviceAddress memory = allocate(16);
  char host[32] = {};
  EXPECT_EQ(memory % 256, 0u);
  EXPECT_EQ(driver.copyToDevice(memory, host, 17, stream), errorInvalidValue);
  EXPECT_EQ(driver.copyToDevice(reinterpret_cast<uint64_t>(host), host + 16, 8, stream),
            errorInvalidValue);
  EXPECT_EQ(driver.copyToHost(host, memory + 8, 9, stream), errorInvalidValue);
  EXPECT_EQ(driver.copyToHost(reinterpret_cast<void *>(memory), memory, 8, stream),
            errorInvalidValue);
  EXPECT_EQ(driver.fill(memory + 1, 0, 16, stream), errorInvalidValue);
  EXPECT_EQ(driver.release(memory + 8), errorInvalidValue);
  EXPECT_EQ(driver.release(memory), success);
  EXPECT_EQ(driver.release(memory), errorInvalidValue);
  EXPECT_EQ(driver.allocate(&memory, 0), errorInvalidValue);
  size_t free = 0, total = 0;
  ASSERT_EQ(driver.memoryInfo(&free, &total), success);
  EXPECT_EQ(free, total);
  EXPECT_EQ(driver.allocate(&memory, total + 1), errorOutOfMemory);
  Function function;
  EXPECT_EQ(driver.moduleFunction(&function, loadImage(), "nothing"), errorNotFound);
  EXPECT_EQ(text(errorNotFound), "the image has no kernel 'nothing'");
  std::vector<char> zeros(256);
  Module module;
  EXPECT_EQ(driver.moduleLoad(&module, zeros.data(), 0, nullptr, nullptr), errorNoBinaryForGpu);
  int capability = -1;
  EXPECT_EQ(driver.deviceAttribute(&capability, attributeMajor, 0), success);
  EXPECT_EQ(capability, 0);
  const char *name = nullptr;
  EXPECT_EQ(driver.errorName(errorOutOfMemory, &name), success);
  EXPECT_STREQ(name, "CUDA_ERROR_OUT_OF_MEMORY");
}

TEST_F(ShimDriver, CallsThatMustNotBeCaptured) {
  Graph graph;
  DeviceAddress memory;
  auto begin = [&] { ASSERT_EQ(driver.captureBegin(stream, captureThreadLocal), success); };
  begin();
  EXPECT_EQ(driver.allocate(&memory, 16), 900);
  EXPECT_EQ(driver.captureEnd(stream, &graph), 901);
  begin();
  EXPECT_EQ(driver.streamSynchronize(stream), 900);
  EXPECT_EQ(text(900), "cuStreamSynchronize of a stream that captures a graph");
  EXPECT_EQ(driver.captureEnd(stream, &graph), 901);
  begin();
  EXPECT_EQ(driver.captureEnd(stream, &graph), success);
  EXPECT_EQ(driver.captureEnd(stream, &graph), 401);
}

TEST_F(ShimDriver, EventsMeasureTime) {
  Event begin, end;
  ASSERT_EQ(driver.eventCreate(&begin, eventDefault), success);
  ASSERT_EQ(driver.eventCreate(&end, eventDefault), success);
  float milliseconds = -1;
  EXPECT_EQ(driver.eventRecord(begin, stream), success);
  EXPECT_NE(driver.eventElapsed(&milliseconds, begin, end), success);
  EXPECT_EQ(driver.eventRecord(end, stream), success);
  EXPECT_EQ(driver.eventSynchronize(end), success);
  EXPECT_EQ(driver.eventElapsed(&milliseconds, begin, end), success);
  EXPECT_GE(milliseconds, 0);
}

/// d = alpha op(a) op(b) + beta c + bias in batches, compared with loops.
class ShimCublasLt : public ShimDriver {
protected:
  template <typename T>
  LtStatus multiply(bool transposeA, bool transposeB, double beta, bool withBias,
                    size_t extraWorkspace = 0, size_t misalign = 0) {
    constexpr int64_t m = 5, n = 7, k = 11, batches = 3;
    constexpr bool f64 = sizeof(T) == 8;
    int type = f64 ? typeF64 : typeF32;
    int64_t rowsA = transposeA ? k : m, columnsA = transposeA ? m : k;
    int64_t rowsB = transposeB ? n : k, columnsB = transposeB ? k : n;
    int64_t strideA = rowsA + 2, strideD = m + 1;
    auto a = randomValues<T>(batches * strideA * columnsA, 1);
    auto b = randomValues<T>(rowsB * columnsB, 2); // the same in every batch
    auto c = randomValues<T>(batches * strideD * n, 3), bias = randomValues<T>(m, 4);
    DeviceAddress onA = upload(a), onB = upload(b), onC = upload(c), onBias = upload(bias);
    DeviceAddress workspace = allocate(1 << 16);

    LtHandle handle;
    LtProduct product;
    LtLayout la, lb, ld;
    LtPreference preference;
    EXPECT_EQ(blas.create(&handle), success);
    EXPECT_EQ(blas.productCreate(&product, f64 ? computeF64 : computeF32, type), success);
    int32_t ta = transposeA ? operationTranspose : operationNone;
    int32_t tb = transposeB ? operationTranspose : operationNone;
    uint32_t epilogue = withBias ? epilogueBias : epilogueNone;
    EXPECT_EQ(blas.productSet(product, productTransposeA, &ta, 4), success);
    EXPECT_EQ(blas.productSet(product, productTransposeB, &tb, 4), success);
    EXPECT_EQ(blas.productSet(product, productEpilogue, &epilogue, 4), success);
    EXPECT_EQ(blas.productSet(product, productBiasPointer, &onBias, 8), success);
    auto layout = [&](LtLayout &to, int64_t rows, int64_t columns, int64_t stride, int64_t batch) {
      int32_t count = batches;
      EXPECT_EQ(blas.layoutCreate(&to, type, static_cast<uint64_t>(rows),
                                  static_cast<uint64_t>(columns), stride),
                success);
      EXPECT_EQ(blas.layoutSet(to, layoutBatchCount, &count, 4), success);
      EXPECT_EQ(blas.layoutSet(to, layoutBatchStride, &batch, 8), success);
    };
    layout(la, rowsA, columnsA, strideA, strideA * columnsA);
    layout(lb, rowsB, columnsB, rowsB, 0);
    layout(ld, m, n, strideD, strideD * n);
    EXPECT_EQ(blas.preferenceCreate(&preference), success);
    uint64_t limit = 1 << 16;
    EXPECT_EQ(blas.preferenceSet(preference, preferenceWorkspace, &limit, 8), success);
    LtChoice choice;
    int found = 0;
    EXPECT_EQ(blas.choose(handle, product, la, lb, ld, ld, preference, 1, &choice, &found),
              success);
    EXPECT_EQ(found, 1);
    T alpha = T(0.5), scale = static_cast<T>(beta);
    LtStatus status = blas.run(handle, product, &alpha, reinterpret_cast<void *>(onA + misalign),
                               la, reinterpret_cast<void *>(onB), lb, &scale,
                               reinterpret_cast<void *>(onC), ld, reinterpret_cast<void *>(onC), ld,
                               &choice.algorithm, reinterpret_cast<void *>(workspace),
                               choice.workspaceBytes - extraWorkspace, stream);
    if (status)
      return status;
    auto d = download<T>(onC, c.size());
    for (int64_t batch = 0; batch < batches; ++batch)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) {
          auto at = static_cast<size_t>((batch * n + j) * strideD + i);
          double sum = 0;
          for (int64_t p = 0; p < k; ++p) {
            int64_t inA =
                batch * strideA * columnsA + (transposeA ? i * strideA + p : p * strideA + i);
            int64_t inB = transposeB ? p * rowsB + j : j * rowsB + p;
            sum += static_cast<double>(a[static_cast<size_t>(inA)]) * b[static_cast<size_t>(inB)];
          }
          sum = 0.5 * sum + beta * c[at] + (withBias ? bias[static_cast<size_t>(i)] : 0);
          EXPECT_NEAR(d[at], sum, f64 ? 1e-12 : 1e-5);
        }
    EXPECT_EQ(d[m], c[m]); // between the columns
    return status;
  }
};

TEST_F(ShimCublasLt, Multiplies) {
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true}) {
      EXPECT_EQ(multiply<float>(transposeA, transposeB, 0, false), success);
      EXPECT_EQ(multiply<double>(transposeA, transposeB, 1, true), success);
    }
  EXPECT_EQ(multiply<float>(false, true, 2, true), success);
}

TEST_F(ShimCublasLt, RefusesWrongUse) {
  EXPECT_EQ(multiply<float>(false, false, 0, false, 1), 7);
  EXPECT_STREQ(blas.statusText(7),
               "cublasLtMatmul: a workspace of 4095 bytes, and 4096 are needed");
  EXPECT_EQ(multiply<float>(false, false, 0, false, 0, 16), 7);
  EXPECT_STREQ(blas.statusText(7), "cublasLtMatmul: matrix a is not aligned to the 256 bytes that "
                                   "the algorithm was chosen for");
  EXPECT_STREQ(blas.statusName(7), "CUBLAS_STATUS_INVALID_VALUE");
}

TEST_F(ShimCublasLt, MatricesMustLieInMemory) {
  LtHandle handle;
  LtProduct product;
  LtLayout layout;
  float one = 1, zero = 0;
  void *memory = reinterpret_cast<void *>(allocate(16 * 15 * sizeof(float)));
  EXPECT_EQ(blas.create(&handle), success);
  EXPECT_EQ(blas.productCreate(&product, computeF32, typeF32), success);
  EXPECT_EQ(blas.layoutCreate(&layout, typeF32, 16, 16, 16), success);
  EXPECT_EQ(blas.run(handle, product, &one, memory, layout, memory, layout, &zero, memory, layout,
                     memory, layout, nullptr, nullptr, 0, stream),
            13);
  EXPECT_STREQ(blas.statusText(13),
               "cublasLtMatmul: matrix a of 16 x 16 (16) does not lie in the device's memory");
}

} // namespace
