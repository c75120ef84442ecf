//===- DeviceFreeDriver.cpp - a CUDA driver with no device ------------------===//
//
// What cuDNN looks for in libcuda.so.1 before it makes a plan for a device that it is told of
// (CudnnOracleTest.cpp). Loading a kernel succeeds, anything else fails.
//
//===----------------------------------------------------------------------===//
#define HYBRID_DRIVER_CALL extern "C" __attribute__((visibility("default"))) int

constexpr int stubLibrary = 34; // CUDA_ERROR_STUB_LIBRARY

#define HYBRID_FAILS(name)                                                                         \
  HYBRID_DRIVER_CALL name() { return stubLibrary; }
#define HYBRID_SUCCEEDS(name)                                                                      \
  HYBRID_DRIVER_CALL name() { return 0; }
/// Succeeds, and gives an object that nobody looks through.
#define HYBRID_MAKES(name)                                                                         \
  HYBRID_DRIVER_CALL name(void **made) {                                                           \
    static int object;                                                                             \
    *made = &object;                                                                               \
    return 0;                                                                                      \
  }

HYBRID_SUCCEEDS(cuInit)
HYBRID_SUCCEEDS(cuLibraryUnload)
HYBRID_SUCCEEDS(cuModuleUnload)
HYBRID_SUCCEEDS(cuKernelSetAttribute)
HYBRID_SUCCEEDS(cuFuncSetAttribute)
HYBRID_MAKES(cuLibraryLoadData)
HYBRID_MAKES(cuLibraryGetKernel)
HYBRID_MAKES(cuKernelGetFunction)
HYBRID_MAKES(cuModuleLoadData)
HYBRID_MAKES(cuModuleLoadDataEx)
HYBRID_MAKES(cuModuleGetFunction)

HYBRID_FAILS(cuCtxGetCurrent)
HYBRID_FAILS(cuCtxGetDevice)
HYBRID_FAILS(cuCtxGetLimit)
HYBRID_FAILS(cuCtxPopCurrent)
HYBRID_FAILS(cuCtxPushCurrent)
HYBRID_FAILS(cuDeviceGet)
HYBRID_FAILS(cuDeviceGetAttribute)
HYBRID_FAILS(cuDeviceGetCount)
HYBRID_FAILS(cuDevicePrimaryCtxRelease)
HYBRID_FAILS(cuDevicePrimaryCtxReset)
HYBRID_FAILS(cuDevicePrimaryCtxRetain)
HYBRID_FAILS(cuDriverGetVersion)
HYBRID_FAILS(cuFuncGetAttribute)
HYBRID_FAILS(cuGetErrorName)
HYBRID_FAILS(cuGetErrorString)
HYBRID_FAILS(cuGetExportTable)
HYBRID_FAILS(cuKernelGetAttribute)
HYBRID_FAILS(cuLaunchCooperativeKernel)
HYBRID_FAILS(cuLaunchKernel)
HYBRID_FAILS(cuLaunchKernelEx)
HYBRID_FAILS(cuLibraryLoadFromFile)
HYBRID_FAILS(cuLinkAddData)
HYBRID_FAILS(cuLinkAddData_v2)
HYBRID_FAILS(cuLinkAddFile_v2)
HYBRID_FAILS(cuLinkComplete)
HYBRID_FAILS(cuLinkCreate)
HYBRID_FAILS(cuLinkCreate_v2)
HYBRID_FAILS(cuLinkDestroy)
HYBRID_FAILS(cuMemcpyDtoH_v2)
HYBRID_FAILS(cuModuleGetGlobal_v2)
HYBRID_FAILS(cuModuleLoadFatBinary)
HYBRID_FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor)
HYBRID_FAILS(cuOccupancyMaxPotentialClusterSize)
HYBRID_FAILS(cuStreamGetCtx)
HYBRID_FAILS(cuStreamSynchronize)
HYBRID_FAILS(cuTensorMapEncodeIm2col)
HYBRID_FAILS(cuTensorMapEncodeTiled)
