//===- Module.cpp - code images and launches of the tests' driver -----------===//
#include "test/cuda/driver/CodeImage.h"
#include "test/cuda/driver/Device.h"
#include "test/cuda/shim/Block.h"
#include "test/cuda/shim/Launch.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <type_traits>

using namespace hybrid::rt::cuda;
using namespace hybrid::shim;

namespace hybrid::rt::cuda {
struct CUfunc_st {
  std::string name;
  std::unique_ptr<Kernel> kernel;
  int maximumShared = 48 * 1024;
};
struct CUmod_st {
  std::unique_ptr<CodeImage> image;
  hybrid::shim::Handles<CUfunc_st> functions;
};
} // namespace hybrid::rt::cuda

static Handles<CUmod_st> &modules() {
  static auto *all = new Handles<CUmod_st>();
  return *all;
}

void hybrid::shim::destroyModules() { modules().clear(); }

/// An image that is none for the device has no complaint.
static Status load(CUmod_st &module, const void *image) {
  std::string complaint;
  module.image = deviceVersion() ? loadPtx(static_cast<const char *>(image), complaint)
                                 : loadSharedObject(image, complaint);
  if (module.image)
    return success;
  if (!complaint.empty())
    return fail(errorInvalidImage, complaint);
  return fail(errorNoBinaryForGpu, deviceVersion()
                                       ? "the image is no PTX"
                                       : "the image is no shared object for this machine");
}

HYBRID_DRIVER_CALL Status cuModuleLoadDataEx(Module *module, const void *image, unsigned options,
                                             int *names, void **values) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().readyOutsideCapture("cuModuleLoadData"))
    return status;
  CUmod_st loaded;
  if (Status status = load(loaded, image)) {
    char *log = nullptr;
    size_t logBytes = 0;
    for (unsigned i = 0; i < options; ++i) {
      if (names[i] == jitErrorLog)
        log = static_cast<char *>(values[i]);
      if (names[i] == jitErrorLogBytes)
        logBytes = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(values[i]));
    }
    if (const std::string *message = messageOf(status); message && log && logBytes)
      std::snprintf(log, logBytes, "%s", message->c_str());
    return status;
  }
  *module = modules().make(std::move(loaded));
  return success;
}

HYBRID_DRIVER_CALL Status cuModuleUnload(Module module) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().readyOutsideCapture("cuModuleUnload"))
    return status;
  if (!modules().has(module))
    return fail(errorInvalidHandle, "cuModuleUnload of a module that does not exist");
  modules().destroy(module);
  return success;
}

HYBRID_DRIVER_CALL Status cuModuleGetFunction(Function *function, Module module, const char *name) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuModuleGetFunction"))
    return status;
  if (!modules().has(module))
    return fail(errorInvalidHandle, "cuModuleGetFunction in a module that does not exist");
  std::string complaint;
  auto kernel = module->image->find(name, complaint);
  if (!kernel)
    return complaint.empty()
               ? fail(errorNotFound, "the image has no kernel '" + std::string(name) + "'")
               : fail(errorInvalidImage, "kernel '" + std::string(name) + "': " + complaint);
  *function = module->functions.make({name, std::move(kernel)});
  return success;
}

/// A function lives as long as its module.
static bool exists(Function function) {
  return std::any_of(modules().all().begin(), modules().all().end(),
                     [&](auto &entry) { return entry.first->functions.has(function); });
}

HYBRID_DRIVER_CALL Status cuFuncSetAttribute(Function function, int attribute, int value) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuFuncSetAttribute"))
    return status;
  if (!exists(function))
    return fail(errorInvalidHandle, "cuFuncSetAttribute of a function that does not exist");
  if (attribute != functionMaxDynamicShared || value < 0 || value > maximumSharedBytes)
    return fail(errorInvalidValue, "cuFuncSetAttribute: attribute " + std::to_string(attribute) +
                                       " = " + std::to_string(value) + " of kernel '" +
                                       function->name + "'");
  function->maximumShared = value;
  return success;
}

static Status runKernel(Function function, const KernelLaunch &launch) {
  if (!exists(function))
    return fail(errorInvalidHandle, "cuLaunchKernelEx of a function that does not exist");
  std::string named = "kernel '" + function->name + "'";
  for (size_t i = 0; i < launch.values.size(); ++i) {
    // The last is the first work item. In a loop over tiles a tile's buffer is passed as if the
    // rows before it lay in front of it: only the address of the first tile can be checked.
    uint64_t value = launch.values[i];
    bool pointer = i + 1 < launch.values.size() && launch.values.back() == 0;
    if (pointer && value && !device().memory.contains(value, 0))
      return device().failForEver(errorIllegalAddress, named + ": argument " + std::to_string(i) +
                                                           " is not in the device's memory");
  }
  if (std::string problem = function->kernel->run(launch); !problem.empty())
    return device().failForEver(errorLaunchFailed, problem);
  if (std::string overrun = device().memory.findOverrun(); !overrun.empty())
    return device().failForEver(errorIllegalAddress, named + " " + overrun);
  return success;
}

/// What the runtime says of the buffers of this thread's next launch.
static thread_local std::vector<BufferExtent> nextExtents;

/// No call of CUDA's: HYBRID_CUDA_OPTIONAL_CALLS in runtime/cuda/DriverApi.h.
HYBRID_DRIVER_CALL Status hybridNextLaunchReaches(unsigned count, const DeviceAddress *begins,
                                                  const uint64_t *bytes,
                                                  const uint64_t *rowStrides) {
  nextExtents.clear();
  for (unsigned i = 0; i < count; ++i)
    nextExtents.push_back({begins[i], bytes[i], rowStrides[i]});
  return success;
}
// CUDA's calls are compared with cuda.h; this one stands in no header.
static_assert(
    std::is_same_v<decltype(&hybridNextLaunchReaches), decltype(DriverApi::nextLaunchReaches)>);

HYBRID_DRIVER_CALL Status cuDeviceGetAttribute(int *value, int attribute, DeviceNumber number);

/// What the attributes of a launch ask for, or a complaint.
static Status readAttributes(const LaunchConfiguration &asked, bool &overlaps) {
  for (unsigned i = 0; i < asked.attributeCount; ++i) {
    if (asked.attributes[i].name != launchOverlaps)
      return fail(errorInvalidValue, "cuLaunchKernelEx: attribute " +
                                         std::to_string(asked.attributes[i].name) +
                                         " is none that the runtime knows");
    overlaps = asked.attributes[i].value != 0;
  }
  int major = 0;
  if (Status status = cuDeviceGetAttribute(&major, attributeMajor, 0))
    return status;
  if (overlaps && major < 9)
    return fail(errorInvalidValue, "cuLaunchKernelEx: this device makes no launch ready before the "
                                   "one before it has ended");
  return success;
}

HYBRID_DRIVER_CALL Status cuLaunchKernelEx(const LaunchConfiguration *asked, Function function,
                                           void **parameters, void **extra) {
  bool overlaps = false;
  if (Status status = readAttributes(*asked, overlaps))
    return status;
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuLaunchKernelEx"))
    return status;
  if (!exists(function))
    return fail(errorInvalidHandle, "cuLaunchKernelEx of a function that does not exist");
  std::string named = "cuLaunchKernelEx of '" + function->name + "': ";
  const auto &[gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, attributes,
               attributeCount] = *asked;
  if (!gridX || gridX > INT32_MAX || !gridY || gridY > UINT16_MAX || gridZ != 1 || blockY != 1 ||
      blockZ != 1)
    return fail(errorInvalidValue, named + "grids have two dimensions and blocks one, not " +
                                       std::to_string(gridX) + " x " + std::to_string(gridY) +
                                       " x " + std::to_string(gridZ) + " blocks of " +
                                       std::to_string(blockX) + " x " + std::to_string(blockY) +
                                       " x " + std::to_string(blockZ) + " threads");
  if (blockX != static_cast<unsigned>(function->kernel->threads) || blockX > maximumThreads ||
      blockX % 32)
    return fail(errorInvalidValue, named + "blocks of " + std::to_string(blockX) +
                                       " threads, and it was made for " +
                                       std::to_string(function->kernel->threads));
  if (sharedBytes > static_cast<unsigned>(function->maximumShared))
    return fail(errorInvalidValue, named + std::to_string(sharedBytes) +
                                       " bytes of shared memory, and cuFuncSetAttribute allowed " +
                                       std::to_string(function->maximumShared));
  if (overlaps && stream && device().streams.has(stream) && stream->waitsForOther)
    return fail(errorInvalidValue,
                named + "it would be made ready before what another stream does has ended");
  if (extra || (!parameters && function->kernel->parameters))
    return fail(errorInvalidValue, named + "arguments are passed by kernelParams only");
  KernelLaunch launch{gridX, gridY, static_cast<int>(blockX), sharedBytes, overlaps, {}, {}};
  launch.values.resize(function->kernel->parameters);
  for (size_t i = 0; i < launch.values.size(); ++i)
    std::memcpy(&launch.values[i], parameters[i], sizeof(uint64_t));
  launch.extents = std::exchange(nextExtents, {});
  return device().enqueue("cuLaunchKernelEx", stream,
                          [=, launch = std::move(launch)] { return runKernel(function, launch); });
}
