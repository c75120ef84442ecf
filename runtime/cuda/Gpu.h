//===- Gpu.h - a device of the CUDA driver, with its streams ----------------===//
#pragma once
#include "executable/Limits.h"
#include "runtime/Result.h"
#include "runtime/cuda/DriverApi.h"
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hybrid::rt::cuda {

struct GpuInfo {
  std::string name;
  int major = 0, minor = 0; // compute capability
  uint64_t memoryBytes = 0;
  int multiprocessors = 0;
  int sharedBytes = 0; // that a block may have

  std::string architecture() const; // "sm_90"
  std::string target() const;       // "cuda:sm_90a"
};

/// All devices that the driver shows (CUDA_VISIBLE_DEVICES chooses them).
Result<std::vector<GpuInfo>> listGpus(const DriverApi &driver);
/// The one that models run on. Opens the driver.
Result<GpuInfo> firstGpu();

/// A device, its primary context, a stream, and streams for other branches of programs, which only
/// follow it and are waited for by it. All copies are in the order of the stream.
class Gpu {
public:
  /// The one of this number, counted round: of the only one that it is shown, every process has
  /// number 0.
  static Result<std::unique_ptr<Gpu>> open(int number = 0);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const DriverApi &driver() const { return api; }
  const GpuInfo &info() const { return description; }
  Stream stream() const { return queues.front(); }
  Stream streamOf(unsigned branch) const { return queues[branch]; }

  /// Makes the context that of the calling thread. Before any other call.
  Result<void> enter() const;
  Result<void> synchronize() const;
  Result<void> copyIn(DeviceAddress to, const void *from, size_t bytes) const;
  Result<void> copyOut(void *to, DeviceAddress from, size_t bytes) const;
  Result<void> copyOnDevice(DeviceAddress to, DeviceAddress from, size_t bytes) const;
  /// `rows` pieces of `bytes`, which lie this far apart on both sides.
  Result<void> copyRows(DeviceAddress to, uint64_t toStride, DeviceAddress from,
                        uint64_t fromStride, size_t bytes, size_t rows) const;
  Result<void> zero(DeviceAddress address, size_t bytes) const;
  /// A kernel, a row of blocks a replica. It may be made ready while the launch before it on its
  /// stream runs where `overlaps` (CodeModule.h): then it waits for that by itself.
  struct Launch {
    Function function = nullptr;
    unsigned blocks = 0, rows = 1, threads = 0, sharedBytes = 0;
    bool overlaps = false;
  };
  Result<void> launch(const Launch &launch, void **parameters, Stream on) const;
  /// "cuMemAlloc: CUDA_ERROR_...": nothing when `status` is success.
  Result<void> check(std::string_view call, Status status) const;

private:
  explicit Gpu(const DriverApi &api) : api(api) {}
  const DriverApi &api;
  GpuInfo description;
  DeviceNumber device = 0;
  Context context = nullptr;
  std::array<Stream, mostBranches> queues{};
};

/// Memory that a driver gave, and that it gets back with its owner.
template <typename Place> class DriverMemory {
public:
  DriverMemory() = default;
  DriverMemory(DriverMemory &&other) noexcept { *this = std::move(other); }
  DriverMemory &operator=(DriverMemory &&other) noexcept {
    std::swap(gpu, other.gpu);
    std::swap(place, other.place);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~DriverMemory() {
    if (place)
      release();
  }
  uint64_t size() const { return bytes; }
  explicit operator bool() const { return place != Place(); }

protected:
  const Gpu *gpu = nullptr;
  Place place = Place();
  uint64_t bytes = 0;

private:
  void release();
};
template <> void DriverMemory<DeviceAddress>::release();
template <> void DriverMemory<std::byte *>::release();

/// Memory on the device.
class GpuMemory : public DriverMemory<DeviceAddress> {
public:
  static Result<GpuMemory> allocate(const Gpu &gpu, uint64_t bytes);
  DeviceAddress address() const { return place; }
};

/// Pinned memory of the host.
class PinnedMemory : public DriverMemory<std::byte *> {
public:
  static Result<PinnedMemory> allocate(const Gpu &gpu, uint64_t bytes);
  std::byte *data() const { return place; }
};

} // namespace hybrid::rt::cuda
