//===- DriverApi.h - the part of the CUDA driver that the runtime calls -----===//
//
// Prototypes and constants of our own: building needs no CUDA toolkit, and running needs no more
// than the driver, which is opened when the first session on the device is made. A test compares
// all of them with cuda.h where a toolkit is installed (test/unit/runtime/CudaHeadersTest.cpp).
// Source: CUDA Driver API reference, versions 12 and 13, in which these entry points are the same.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstddef>
#include <cstdint>

namespace hybrid::rt::cuda {

using Status = int;                // CUresult
using DeviceNumber = int;          // CUdevice
using DeviceAddress = uint64_t;    // CUdeviceptr
using Context = struct CUctx_st *; // and so on: pointers that only the driver looks through
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Event = struct CUevent_st *;
using Graph = struct CUgraph_st *;
using GraphExec = struct CUgraphExec_st *;

constexpr Status success = 0, errorInvalidValue = 1, errorOutOfMemory = 2, errorNotInitialized = 3,
                 errorNoDevice = 100, errorNoBinaryForGpu = 209, errorNotFound = 500;
constexpr int attributeMaxGridX = 5, attributeMultiprocessors = 16, attributeMajor = 75,
              attributeMinor = 76, attributeSharedMemoryOptIn = 97; // CUdevice_attribute
constexpr int functionMaxDynamicShared = 8;                         // CUfunction_attribute
constexpr unsigned streamNonBlocking = 1;                           // CUstream_flags
constexpr unsigned eventDefault = 0, eventDisableTiming = 2;        // CUevent_flags
constexpr int captureThreadLocal = 1;                               // CUstreamCaptureMode
constexpr int memoryDevice = 2;                                     // CUmemorytype
constexpr int jitErrorLog = 5, jitErrorLogBytes = 6;                // CUjit_option

/// CUDA_MEMCPY2D: `height` rows of `width` bytes.
struct Copy2D {
  size_t fromX = 0, fromY = 0;
  int fromType = memoryDevice;
  const void *fromHost = nullptr;
  DeviceAddress from = 0;
  struct CUarray_st *fromArray = nullptr;
  size_t fromPitch = 0;
  size_t toX = 0, toY = 0;
  int toType = memoryDevice;
  void *toHost = nullptr;
  DeviceAddress to = 0;
  struct CUarray_st *toArray = nullptr;
  size_t toPitch = 0;
  size_t width = 0, height = 0;
};

/// CUlaunchAttribute: its name, and of its value, which is 64 bytes, what is used here.
struct LaunchAttribute {
  int name = 0;
  int padding = 0;
  int value = 0;
  int unused[15] = {};
};
constexpr int launchOverlaps = 6; // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION

/// CUlaunchConfig.
struct LaunchConfiguration {
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  Stream stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  unsigned attributeCount = 0;
};

// Name, the symbol in the library, parameters. All return Status.
#define HYBRID_CUDA_DRIVER_CALLS(CALL)                                                             \
  CALL(init, "cuInit", (unsigned flags))                                                           \
  CALL(driverVersion, "cuDriverGetVersion", (int *version))                                        \
  CALL(errorName, "cuGetErrorName", (Status error, const char **text))                             \
  CALL(errorText, "cuGetErrorString", (Status error, const char **text))                           \
  CALL(deviceCount, "cuDeviceGetCount", (int *count))                                              \
  CALL(deviceGet, "cuDeviceGet", (DeviceNumber * device, int ordinal))                             \
  CALL(deviceName, "cuDeviceGetName", (char *name, int length, DeviceNumber device))               \
  CALL(deviceAttribute, "cuDeviceGetAttribute", (int *value, int attribute, DeviceNumber device))  \
  CALL(deviceMemory, "cuDeviceTotalMem_v2", (size_t *bytes, DeviceNumber device))                  \
  CALL(contextRetain, "cuDevicePrimaryCtxRetain", (Context * context, DeviceNumber device))        \
  CALL(contextRelease, "cuDevicePrimaryCtxRelease_v2", (DeviceNumber device))                      \
  CALL(contextSet, "cuCtxSetCurrent", (Context context))                                           \
  CALL(memoryInfo, "cuMemGetInfo_v2", (size_t *free, size_t *total))                               \
  CALL(allocate, "cuMemAlloc_v2", (DeviceAddress * address, size_t bytes))                         \
  CALL(release, "cuMemFree_v2", (DeviceAddress address))                                           \
  CALL(allocateHost, "cuMemHostAlloc", (void **address, size_t bytes, unsigned flags))             \
  CALL(releaseHost, "cuMemFreeHost", (void *address))                                              \
  CALL(copyToDevice, "cuMemcpyHtoDAsync_v2",                                                       \
       (DeviceAddress to, const void *from, size_t bytes, Stream stream))                          \
  CALL(copyToHost, "cuMemcpyDtoHAsync_v2",                                                         \
       (void *to, DeviceAddress from, size_t bytes, Stream stream))                                \
  CALL(copyOnDevice, "cuMemcpyDtoDAsync_v2",                                                       \
       (DeviceAddress to, DeviceAddress from, size_t bytes, Stream stream))                        \
  CALL(copy2D, "cuMemcpy2DAsync_v2", (const Copy2D *copy, Stream stream))                          \
  CALL(fill, "cuMemsetD8Async",                                                                    \
       (DeviceAddress to, unsigned char value, size_t bytes, Stream stream))                       \
  CALL(streamCreate, "cuStreamCreate", (Stream * stream, unsigned flags))                          \
  CALL(streamDestroy, "cuStreamDestroy_v2", (Stream stream))                                       \
  CALL(streamSynchronize, "cuStreamSynchronize", (Stream stream))                                  \
  CALL(streamWait, "cuStreamWaitEvent", (Stream stream, Event event, unsigned flags))              \
  CALL(eventCreate, "cuEventCreate", (Event * event, unsigned flags))                              \
  CALL(eventDestroy, "cuEventDestroy_v2", (Event event))                                           \
  CALL(eventRecord, "cuEventRecord", (Event event, Stream stream))                                 \
  CALL(eventSynchronize, "cuEventSynchronize", (Event event))                                      \
  CALL(eventElapsed, "cuEventElapsedTime", (float *milliseconds, Event begin, Event end))          \
  CALL(captureBegin, "cuStreamBeginCapture_v2", (Stream stream, int mode))                         \
  CALL(captureEnd, "cuStreamEndCapture", (Stream stream, Graph * graph))                           \
  CALL(graphInstantiate, "cuGraphInstantiateWithFlags",                                            \
       (GraphExec * executable, Graph graph, unsigned long long flags))                            \
  CALL(graphLaunch, "cuGraphLaunch", (GraphExec executable, Stream stream))                        \
  CALL(graphDestroy, "cuGraphDestroy", (Graph graph))                                              \
  CALL(graphExecDestroy, "cuGraphExecDestroy", (GraphExec executable))                             \
  CALL(moduleLoad, "cuModuleLoadDataEx",                                                           \
       (Module * module, const void *image, unsigned options, int *names, void **values))          \
  CALL(moduleUnload, "cuModuleUnload", (Module module))                                            \
  CALL(moduleFunction, "cuModuleGetFunction",                                                      \
       (Function * function, Module module, const char *name))                                     \
  CALL(functionSet, "cuFuncSetAttribute", (Function function, int attribute, int value))           \
  CALL(launch, "cuLaunchKernelEx",                                                                 \
       (const LaunchConfiguration *configuration, Function function, void **parameters,            \
        void **extra))

/// What no driver of NVIDIA's has: the tests' one is told which bytes this thread's next launch may
/// reach through each parameter, and how far on they are for the next row of the grid.
#define HYBRID_CUDA_OPTIONAL_CALLS(CALL)                                                           \
  CALL(nextLaunchReaches, "hybridNextLaunchReaches",                                               \
       (unsigned count, const DeviceAddress *begins, const uint64_t *bytes,                        \
        const uint64_t *rowStrides))

/// The driver's entry points; optional ones may be null.
struct DriverApi {
#define HYBRID_DECLARE(name, symbol, parameters) Status(*name) parameters = nullptr;
  HYBRID_CUDA_DRIVER_CALLS(HYBRID_DECLARE)
  HYBRID_CUDA_OPTIONAL_CALLS(HYBRID_DECLARE)
#undef HYBRID_DECLARE
};

/// Opens libcuda.so.1 (or the file that HYBRID_CUDA_DRIVER names) and starts the driver, once a
/// process. The error says what to do.
Result<const DriverApi *> openDriver();

/// "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
std::string describe(const DriverApi &driver, std::string_view call, Status status);

} // namespace hybrid::rt::cuda
