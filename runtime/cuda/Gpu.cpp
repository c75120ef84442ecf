//===- Gpu.cpp - a device of the CUDA driver, with its streams --------------===//
#include "runtime/cuda/Gpu.h"
#include "executable/SessionMemory.h"
#include "runtime/cuda/Architecture.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace hybrid::rt::cuda {

std::string GpuInfo::architecture() const { return architectureName(major, minor); }
std::string GpuInfo::target() const { return targetName(major, minor); }

static Result<void> checked(const DriverApi &api, std::string_view call, Status status) {
  if (status == success)
    return {};
  return Error{describe(api, call, status)};
}

static Result<GpuInfo> describeGpu(const DriverApi &api, DeviceNumber device) {
  GpuInfo info;
  char name[256] = "";
  size_t memory = 0;
  if (auto done = checked(api, "cuDeviceGetName", api.deviceName(name, sizeof(name) - 1, device));
      !done)
    return done.error();
  if (auto done = checked(api, "cuDeviceTotalMem", api.deviceMemory(&memory, device)); !done)
    return done.error();
  for (auto [value, attribute] :
       {std::pair(&info.major, attributeMajor), std::pair(&info.minor, attributeMinor),
        std::pair(&info.multiprocessors, attributeMultiprocessors),
        std::pair(&info.sharedBytes, attributeSharedMemoryOptIn)})
    if (auto done =
            checked(api, "cuDeviceGetAttribute", api.deviceAttribute(value, attribute, device));
        !done)
      return done.error();
  info.name = name;
  info.memoryBytes = memory;
  return info;
}

Result<std::vector<GpuInfo>> listGpus(const DriverApi &api) {
  int count = 0;
  if (auto done = checked(api, "cuDeviceGetCount", api.deviceCount(&count)); !done)
    return done.error();
  std::vector<GpuInfo> infos;
  for (int i = 0; i < count; ++i) {
    DeviceNumber device = 0;
    if (auto done = checked(api, "cuDeviceGet", api.deviceGet(&device, i)); !done)
      return done.error();
    auto info = describeGpu(api, device);
    if (!info)
      return info.error();
    infos.push_back(std::move(*info));
  }
  return infos;
}

static Result<std::vector<GpuInfo>> someGpus() {
  auto api = openDriver();
  if (!api)
    return api.error();
  auto devices = listGpus(**api);
  if (!devices)
    return devices.error();
  if (devices->empty())
    return Error{"the CUDA driver shows no device: look at `nvidia-smi` and at "
                 "CUDA_VISIBLE_DEVICES, or compile the model with --target=cpu"};
  return devices;
}

Result<GpuInfo> firstGpu() {
  auto devices = someGpus();
  return devices ? Result<GpuInfo>(devices->front()) : devices.error();
}

Result<std::unique_ptr<Gpu>> Gpu::open(int number) {
  auto devices = someGpus();
  if (!devices)
    return devices.error();
  const int chosen = number % static_cast<int>(devices->size());
  std::unique_ptr<Gpu> gpu(new Gpu(**openDriver()));
  gpu->description = std::move((*devices)[static_cast<size_t>(chosen)]);
  if (auto done = gpu->check("cuDeviceGet", gpu->api.deviceGet(&gpu->device, chosen)); !done)
    return done.error();
  if (auto done = gpu->check("cuDevicePrimaryCtxRetain",
                             gpu->api.contextRetain(&gpu->context, gpu->device));
      !done)
    return done.error();
  if (auto done = gpu->enter(); !done)
    return done.error();
  for (Stream &queue : gpu->queues)
    if (auto done = gpu->check("cuStreamCreate", gpu->api.streamCreate(&queue, streamNonBlocking));
        !done)
      return done.error();
  return gpu;
}

Gpu::~Gpu() {
  // Nothing can be done about what fails here.
  for (Stream queue : queues)
    if (queue)
      api.streamDestroy(queue);
  if (context)
    api.contextRelease(device);
}

Result<void> Gpu::check(std::string_view call, Status status) const {
  return checked(api, call, status);
}
Result<void> Gpu::enter() const { return check("cuCtxSetCurrent", api.contextSet(context)); }
Result<void> Gpu::synchronize() const {
  return check("cuStreamSynchronize", api.streamSynchronize(stream()));
}
Result<void> Gpu::copyIn(DeviceAddress to, const void *from, size_t bytes) const {
  return bytes ? check("cuMemcpyHtoDAsync", api.copyToDevice(to, from, bytes, stream()))
               : Result<void>();
}
Result<void> Gpu::copyOut(void *to, DeviceAddress from, size_t bytes) const {
  return bytes ? check("cuMemcpyDtoHAsync", api.copyToHost(to, from, bytes, stream()))
               : Result<void>();
}
Result<void> Gpu::copyOnDevice(DeviceAddress to, DeviceAddress from, size_t bytes) const {
  return bytes ? check("cuMemcpyDtoDAsync", api.copyOnDevice(to, from, bytes, stream()))
               : Result<void>();
}
Result<void> Gpu::copyRows(DeviceAddress to, uint64_t toStride, DeviceAddress from,
                           uint64_t fromStride, size_t bytes, size_t rows) const {
  constexpr uint64_t mostPitch = INT32_MAX;
  if (bytes == 0 || rows == 0)
    return {};
  if (rows > 1 && toStride <= mostPitch && fromStride <= mostPitch) {
    Copy2D copy;
    copy.from = from, copy.fromPitch = fromStride;
    copy.to = to, copy.toPitch = toStride;
    copy.width = bytes, copy.height = rows;
    return check("cuMemcpy2DAsync", api.copy2D(&copy, stream()));
  }
  for (size_t row = 0; row < rows; ++row)
    if (auto done = copyOnDevice(to + row * toStride, from + row * fromStride, bytes); !done)
      return done;
  return {};
}
Result<void> Gpu::zero(DeviceAddress address, size_t bytes) const {
  return bytes ? check("cuMemsetD8Async", api.fill(address, 0, bytes, stream())) : Result<void>();
}

Result<void> Gpu::launch(const Launch &launch, void **parameters, Stream on) const {
  LaunchAttribute overlaps{launchOverlaps, 0, 1};
  LaunchConfiguration configuration;
  configuration.gridX = launch.blocks, configuration.gridY = launch.rows;
  configuration.blockX = launch.threads;
  configuration.sharedBytes = launch.sharedBytes;
  configuration.stream = on;
  configuration.attributes = &overlaps;
  configuration.attributeCount = launch.overlaps ? 1 : 0;
  return check("cuLaunchKernelEx",
               api.launch(&configuration, launch.function, parameters, nullptr));
}

//===-- memory -----------------------------------------------------------------===//

template <> void DriverMemory<DeviceAddress>::release() { gpu->driver().release(place); }
template <> void DriverMemory<std::byte *>::release() { gpu->driver().releaseHost(place); }

Result<GpuMemory> GpuMemory::allocate(const Gpu &gpu, uint64_t bytes) {
  GpuMemory memory;
  memory.bytes = std::max(bytes, leastAllocation);
  if (auto done = gpu.check("cuMemAlloc", gpu.driver().allocate(&memory.place, memory.bytes));
      !done) {
    memory.place = 0;
    return done.error();
  }
  memory.gpu = &gpu;
  return memory;
}

Result<PinnedMemory> PinnedMemory::allocate(const Gpu &gpu, uint64_t bytes) {
  PinnedMemory memory;
  memory.bytes = std::max(bytes, leastAllocation);
  void *place = nullptr;
  if (auto done = gpu.check("cuMemHostAlloc", gpu.driver().allocateHost(&place, memory.bytes, 0));
      !done)
    return Error{fmt::format("cannot have {} bytes of pinned memory for copies: {}", memory.bytes,
                             done.error().message)};
  std::memset(place, 0, memory.bytes);
  memory.place = static_cast<std::byte *>(place);
  memory.gpu = &gpu;
  return memory;
}

} // namespace hybrid::rt::cuda
