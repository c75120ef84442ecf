//===- CufftTest.cpp - transforms by cuFFT, on the tests' library -----------===//
#include "runtime/cuda/Transform.h"
#include <cmath>
#include <complex>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace hybrid::rt;
using namespace hybrid::rt::cuda;

namespace {

using Number = std::complex<double>;

/// Of columns: the sums that define a transform.
std::vector<Number> spectrumOf(const std::vector<double> &x, int64_t points, int64_t signals) {
  std::vector<Number> spectrum;
  for (int64_t k = 0; k <= points / 2; ++k)
    for (int64_t signal = 0; signal < signals; ++signal) {
      Number sum = 0;
      for (int64_t t = 0; t < points; ++t)
        sum += x[static_cast<size_t>(t * signals + signal)] *
               std::polar(1.0, -2 * M_PI * static_cast<double>(k * t % points) /
                                   static_cast<double>(points));
      spectrum.push_back(sum);
    }
  return spectrum;
}

class CufftTransform : public testing::Test {
protected:
  void SetUp() override {
    setenv("HYBRID_CUDA_DRIVER", HYBRID_SHIM_DRIVER, 1);
    setenv("HYBRID_CUFFT", HYBRID_SHIM_DRIVER, 1);
    auto opened = Gpu::open();
    ASSERT_TRUE(opened) << opened.error().message;
    gpu = std::move(*opened);
    ASSERT_TRUE(gpu->enter());
    auto library = Cufft::open(*gpu);
    ASSERT_TRUE(library) << library.error().message;
    cufft = std::move(*library);
  }

  DeviceAddress allocate(uint64_t bytes) {
    auto made = GpuMemory::allocate(*gpu, bytes);
    EXPECT_TRUE(made);
    memory.push_back(std::move(*made));
    return memory.back().address();
  }
  template <typename T> DeviceAddress upload(const std::vector<T> &values) {
    DeviceAddress address = allocate(values.size() * sizeof(T));
    EXPECT_TRUE(gpu->copyIn(address, values.data(), values.size() * sizeof(T)));
    EXPECT_TRUE(gpu->synchronize());
    return address;
  }
  template <typename T> std::vector<T> download(DeviceAddress address, size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(gpu->copyOut(values.data(), address, count * sizeof(T)));
    EXPECT_TRUE(gpu->synchronize());
    return values;
  }

  /// There, and back again: what comes back is `points` times what went.
  template <typename T> void check(int64_t points, int64_t signals, double tolerance) {
    SCOPED_TRACE(testing::Message() << points << " points of " << signals << " signals");
    std::mt19937 engine(1);
    std::normal_distribution<T> draw;
    std::vector<T> x(static_cast<size_t>(points * signals));
    for (T &value : x)
      value = draw(engine);
    const size_t bins = static_cast<size_t>((points / 2 + 1) * signals);
    const DeviceAddress real = upload(x), spectrum = allocate(bins * 2 * sizeof(T));
    TransformShape shape{points, signals, false, sizeof(T) == 8 ? DType::F64 : DType::F32};
    auto forward = Transform::create(*cufft, shape, real, spectrum);
    ASSERT_TRUE(forward) << forward.error().message;
    auto ran = (*forward)->run();
    ASSERT_TRUE(ran) << ran.error().message;
    const auto found = download<std::complex<T>>(spectrum, bins);
    const auto expected = spectrumOf({x.begin(), x.end()}, points, signals);
    for (size_t i = 0; i < bins; ++i)
      EXPECT_LT(std::abs(Number(found[i]) - expected[i]), tolerance * std::sqrt(points)) << i;
    shape.inverse = true;
    const DeviceAddress back = allocate(x.size() * sizeof(T));
    auto inverse = Transform::create(*cufft, shape, back, spectrum);
    ASSERT_TRUE(inverse) << inverse.error().message;
    ran = (*inverse)->run();
    ASSERT_TRUE(ran) << ran.error().message;
    const auto again = download<T>(back, x.size());
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(again[i], static_cast<double>(points) * x[i], tolerance * 10 * points) << i;
  }

  std::unique_ptr<Gpu> gpu;
  std::unique_ptr<Cufft> cufft;
  std::vector<GpuMemory> memory;
};

TEST_F(CufftTransform, AgreesWithTheSumsThatDefineIt) {
  for (int64_t points : {1, 2, 3, 8, 105, 128, 211, 1155})
    for (int64_t signals : {1, 3}) {
      check<float>(points, signals, 1e-5);
      check<double>(points, signals, 1e-12);
    }
}

TEST_F(CufftTransform, TransformsThatAreAlikeShareAPlan) {
  const DeviceAddress x = allocate(4096), spectrum = allocate(8192);
  for (int64_t points : {64, 64, 100, 64})
    ASSERT_TRUE(Transform::create(*cufft, {points, 3}, x, spectrum));
  EXPECT_EQ(cufft->plans(), 2u);
  ASSERT_TRUE(Transform::create(*cufft, {64, 3, true}, x, spectrum));
  EXPECT_EQ(cufft->plans(), 3u);
  EXPECT_GE(cufft->allocatedBytes(), 100u * 3 * 8);
}

TEST_F(CufftTransform, WorkspaceIsAllocatedOnceWhereItIsExpected) {
  auto library = Cufft::open(*gpu, 1 << 20);
  ASSERT_TRUE(library);
  const DeviceAddress x = allocate(1 << 16), spectrum = allocate(1 << 16);
  for (int64_t points : {8, 64, 1000, 11})
    ASSERT_TRUE(Transform::create(**library, {points, 3}, x, spectrum));
  EXPECT_EQ((*library)->allocatedBytes(), 1u << 20);
}

TEST_F(CufftTransform, RunsAsAPartOfAGraph) {
  const DriverApi &driver = gpu->driver();
  const DeviceAddress x = upload(std::vector<float>(6, 1)), spectrum = allocate(64);
  auto transform = Transform::create(*cufft, {6, 1}, x, spectrum);
  ASSERT_TRUE(transform);
  Graph graph = nullptr;
  GraphExec executable = nullptr;
  ASSERT_EQ(driver.captureBegin(gpu->stream(), captureThreadLocal), success);
  ASSERT_TRUE((*transform)->run());
  ASSERT_EQ(driver.captureEnd(gpu->stream(), &graph), success);
  ASSERT_EQ(driver.graphInstantiate(&executable, graph, 0), success);
  for (float value : {2.0f, 3.0f}) {
    const std::vector<float> values(6, value);
    ASSERT_TRUE(gpu->copyIn(x, values.data(), 24));
    ASSERT_EQ(driver.graphLaunch(executable, gpu->stream()), success);
    ASSERT_TRUE(gpu->synchronize());
    EXPECT_EQ(download<float>(spectrum, 1)[0], 6 * value);
  }
  EXPECT_EQ(driver.graphExecDestroy(executable), success);
  EXPECT_EQ(driver.graphDestroy(graph), success);
}

TEST_F(CufftTransform, PlansAreNotMadeWhileAStreamIsCaptured) {
  const DriverApi &driver = gpu->driver();
  Graph graph = nullptr;
  const DeviceAddress x = allocate(64), spectrum = allocate(64);
  ASSERT_EQ(driver.captureBegin(gpu->stream(), captureThreadLocal), success);
  EXPECT_FALSE(Transform::create(*cufft, {6, 1}, x, spectrum));
  driver.captureEnd(gpu->stream(), &graph);
}

TEST_F(CufftTransform, TheStandInWantsWhatAPlanNeeds) {
  const CufftApi &api = cufft->api();
  FftPlan plan = 0;
  size_t bytes = 0;
  long long points = 6, bins = 4;
  auto make = [&](int type, long long batch = 2) {
    return api.makePlan(plan, 1, &points, &points, 2, 1, &bins, 2, 1, type, batch, &bytes);
  };
  ASSERT_EQ(api.create(&plan), 0);
  EXPECT_EQ(make(fftForwardF32), 1) << "memory of its own cannot be captured";
  EXPECT_EQ(api.setAutoAllocation(plan, 0), 0);
  EXPECT_EQ(make(7), 3);
  EXPECT_EQ(make(fftForwardF32, 0), 8);
  points = 0;
  EXPECT_EQ(make(fftForwardF32), 8);
  points = 6;
  EXPECT_EQ(api.makePlan(plan, 1, &points, nullptr, 2, 1, &bins, 2, 1, fftForwardF32, 2, &bytes),
            4);
  bins = 3;
  EXPECT_EQ(make(fftForwardF32), 4) << "a spectrum of fewer bins";
  bins = 4;
  EXPECT_EQ(make(fftForwardF32), 0);
  const DeviceAddress x = allocate(64), spectrum = allocate(128);
  auto *real = reinterpret_cast<float *>(x);
  auto *complex = reinterpret_cast<FftComplexF32 *>(spectrum);
  EXPECT_EQ(api.forwardF32(plan, real, complex), 0xd) << "no workspace";
  EXPECT_EQ(api.setWorkspace(plan, &bytes), 4) << "memory of the host";
  EXPECT_EQ(api.setWorkspace(plan, reinterpret_cast<void *>(allocate(bytes))), 0);
  EXPECT_EQ(api.forwardF32(plan, real, complex), 1) << "no stream";
  EXPECT_EQ(api.setStream(plan, gpu->stream()), 0);
  EXPECT_EQ(api.inverseF32(plan, complex, real), 1) << "of another type";
  EXPECT_EQ(api.forwardF32(plan, real, reinterpret_cast<FftComplexF32 *>(spectrum + 4)), 9);
  EXPECT_EQ(api.forwardF32(plan, real, complex + 12), 4);
  EXPECT_EQ(api.forwardF32(plan, real, complex), 0);
  EXPECT_EQ(api.destroy(plan), 0);
  EXPECT_EQ(api.destroy(plan), 1);
}

TEST_F(CufftTransform, TheStandInTakesNoSpectrumWhoseEndsAreNotReal) {
  const DeviceAddress x = allocate(64),
                      spectrum = upload(std::vector<float>{1, 0, 1, 1, 1, 1, 1, 1});
  auto inverse = Transform::create(*cufft, {6, 1, true}, x, spectrum);
  ASSERT_TRUE(inverse);
  EXPECT_FALSE((*inverse)->run());
}

TEST(CufftLibrary, SaysWhatToDoWithoutIt) {
  setenv("HYBRID_CUFFT", "/nonexistent/libcufft.so.12", 1);
  auto library = openCufft();
  ASSERT_FALSE(library);
  const std::string &message = library.error().message;
  for (const char *part : {"/nonexistent/libcufft.so.12", "HYBRID_CUFFT", "--transforms=own"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(CufftLibrary, OpensThatOfTheToolkit) {
#ifdef HYBRID_REAL_CUFFT
  setenv("HYBRID_CUFFT", HYBRID_REAL_CUFFT, 1);
  auto library = openCufft();
  ASSERT_TRUE(library) << library.error().message;
  int version = 0;
  ASSERT_EQ((*library)->version(&version), 0);
  EXPECT_GE(version, 11000);
  EXPECT_NE(versionText(**library).substr(0, 3), "0.0");
#else
  GTEST_SKIP() << "no toolkit with cuFFT";
#endif
}

} // namespace
