//===- HeadersTest.cpp - our prototypes against the toolkit's headers -------===//
//
// runtime/cuda declares what it calls by itself. Where a CUDA toolkit is installed, the compiler
// compares: the same number of parameters, each of the same size and kind, and the same constants.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CublasLtApi.h"
#include "runtime/cuda/DriverApi.h"
#include <cstddef>
#include <cublasLt.h>
#include <cuda.h>
#if __has_include(<nccl.h>)
#include "runtime/cuda/NcclApi.h"
#include <nccl.h>
#endif
#if __has_include(<cufft.h>)
#include "runtime/cuda/CufftApi.h"
#include <cufft.h>
#endif
#if __has_include(<cudnn.h>)
#include "runtime/cuda/CudnnApi.h"
#include <cudnn.h>
#endif
#include <gtest/gtest.h>
#include <type_traits>

namespace {

using namespace hybrid::rt;

/// Whether a caller may pass an `Ours` where a `Theirs` is taken: pointers to functions and opaque
/// types differ in name only.
template <typename Ours, typename Theirs> constexpr bool sameParameter() {
  if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>) {
    return std::is_void_v<Ours> && std::is_void_v<Theirs>;
  } else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using O = std::remove_cv_t<std::remove_pointer_t<Ours>>;
    using T = std::remove_cv_t<std::remove_pointer_t<Theirs>>;
    if constexpr (std::is_void_v<O> || std::is_void_v<T>)
      return std::is_void_v<O> && std::is_void_v<T>;
    else if constexpr (std::is_arithmetic_v<O> || std::is_enum_v<T> || std::is_pointer_v<O>)
      return sizeof(O) == sizeof(T);
    else
      return true; // an opaque or a plain structure: sizes of the latter are compared below
  } else {
    return std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> && sizeof(Ours) == sizeof(Theirs) &&
           std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
  }
}

template <typename Ours, typename Theirs> struct Same : std::false_type {};
template <typename R, typename... P, typename S, typename... Q>
struct Same<R (*)(P...), S (*)(Q...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(P) != sizeof...(Q))
      return false;
    else
      return sameParameter<R, S>() && (sameParameter<P, Q>() && ...);
  }();
};

#define EXPECT_SAME(table, name, function)                                                         \
  static_assert(Same<decltype(cuda::table::name), decltype(&(function))>::value, #function)

EXPECT_SAME(DriverApi, init, cuInit);
EXPECT_SAME(DriverApi, driverVersion, cuDriverGetVersion);
EXPECT_SAME(DriverApi, errorName, cuGetErrorName);
EXPECT_SAME(DriverApi, errorText, cuGetErrorString);
EXPECT_SAME(DriverApi, deviceCount, cuDeviceGetCount);
EXPECT_SAME(DriverApi, deviceGet, cuDeviceGet);
EXPECT_SAME(DriverApi, deviceName, cuDeviceGetName);
EXPECT_SAME(DriverApi, deviceAttribute, cuDeviceGetAttribute);
EXPECT_SAME(DriverApi, deviceMemory, cuDeviceTotalMem_v2);
EXPECT_SAME(DriverApi, contextRetain, cuDevicePrimaryCtxRetain);
EXPECT_SAME(DriverApi, contextRelease, cuDevicePrimaryCtxRelease_v2);
EXPECT_SAME(DriverApi, contextSet, cuCtxSetCurrent);
EXPECT_SAME(DriverApi, memoryInfo, cuMemGetInfo_v2);
EXPECT_SAME(DriverApi, allocate, cuMemAlloc_v2);
EXPECT_SAME(DriverApi, release, cuMemFree_v2);
EXPECT_SAME(DriverApi, allocateHost, cuMemHostAlloc);
EXPECT_SAME(DriverApi, releaseHost, cuMemFreeHost);
EXPECT_SAME(DriverApi, copyToDevice, cuMemcpyHtoDAsync_v2);
EXPECT_SAME(DriverApi, copyToHost, cuMemcpyDtoHAsync_v2);
EXPECT_SAME(DriverApi, copyOnDevice, cuMemcpyDtoDAsync_v2);
EXPECT_SAME(DriverApi, copy2D, cuMemcpy2DAsync_v2);
EXPECT_SAME(DriverApi, fill, cuMemsetD8Async);
EXPECT_SAME(DriverApi, streamCreate, cuStreamCreate);
EXPECT_SAME(DriverApi, streamDestroy, cuStreamDestroy_v2);
EXPECT_SAME(DriverApi, streamSynchronize, cuStreamSynchronize);
EXPECT_SAME(DriverApi, streamWait, cuStreamWaitEvent);
EXPECT_SAME(DriverApi, eventCreate, cuEventCreate);
EXPECT_SAME(DriverApi, eventDestroy, cuEventDestroy_v2);
EXPECT_SAME(DriverApi, eventRecord, cuEventRecord);
EXPECT_SAME(DriverApi, eventSynchronize, cuEventSynchronize);
EXPECT_SAME(DriverApi, eventElapsed, cuEventElapsedTime);
EXPECT_SAME(DriverApi, captureBegin, cuStreamBeginCapture);
EXPECT_SAME(DriverApi, captureEnd, cuStreamEndCapture);
EXPECT_SAME(DriverApi, graphInstantiate, cuGraphInstantiateWithFlags);
EXPECT_SAME(DriverApi, graphLaunch, cuGraphLaunch);
EXPECT_SAME(DriverApi, graphDestroy, cuGraphDestroy);
EXPECT_SAME(DriverApi, graphExecDestroy, cuGraphExecDestroy);
EXPECT_SAME(DriverApi, moduleLoad, cuModuleLoadDataEx);
EXPECT_SAME(DriverApi, moduleUnload, cuModuleUnload);
EXPECT_SAME(DriverApi, moduleFunction, cuModuleGetFunction);
EXPECT_SAME(DriverApi, functionSet, cuFuncSetAttribute);
EXPECT_SAME(DriverApi, launch, cuLaunchKernelEx);

static_assert(cuda::success == CUDA_SUCCESS &&
              cuda::errorInvalidValue == CUDA_ERROR_INVALID_VALUE &&
              cuda::errorOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY &&
              cuda::errorNotInitialized == CUDA_ERROR_NOT_INITIALIZED &&
              cuda::errorNoDevice == CUDA_ERROR_NO_DEVICE &&
              cuda::errorNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU &&
              cuda::errorNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(cuda::attributeMaxGridX == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X &&
              cuda::attributeMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT &&
              cuda::attributeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
              cuda::attributeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
              cuda::attributeSharedMemoryOptIn ==
                  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(sizeof(cuda::Copy2D) == sizeof(CUDA_MEMCPY2D) &&
              offsetof(cuda::Copy2D, from) == offsetof(CUDA_MEMCPY2D, srcDevice) &&
              offsetof(cuda::Copy2D, fromPitch) == offsetof(CUDA_MEMCPY2D, srcPitch) &&
              offsetof(cuda::Copy2D, toType) == offsetof(CUDA_MEMCPY2D, dstMemoryType) &&
              offsetof(cuda::Copy2D, to) == offsetof(CUDA_MEMCPY2D, dstDevice) &&
              offsetof(cuda::Copy2D, toPitch) == offsetof(CUDA_MEMCPY2D, dstPitch) &&
              offsetof(cuda::Copy2D, width) == offsetof(CUDA_MEMCPY2D, WidthInBytes) &&
              offsetof(cuda::Copy2D, height) == offsetof(CUDA_MEMCPY2D, Height) &&
              cuda::memoryDevice == CU_MEMORYTYPE_DEVICE);
static_assert(sizeof(cuda::LaunchAttribute) == sizeof(CUlaunchAttribute) &&
              offsetof(cuda::LaunchAttribute, value) == offsetof(CUlaunchAttribute, value) &&
              cuda::launchOverlaps == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
              sizeof(cuda::LaunchConfiguration) == sizeof(CUlaunchConfig) &&
              offsetof(cuda::LaunchConfiguration, blockX) == offsetof(CUlaunchConfig, blockDimX) &&
              offsetof(cuda::LaunchConfiguration, sharedBytes) ==
                  offsetof(CUlaunchConfig, sharedMemBytes) &&
              offsetof(cuda::LaunchConfiguration, stream) == offsetof(CUlaunchConfig, hStream) &&
              offsetof(cuda::LaunchConfiguration, attributes) == offsetof(CUlaunchConfig, attrs) &&
              offsetof(cuda::LaunchConfiguration, attributeCount) ==
                  offsetof(CUlaunchConfig, numAttrs));
static_assert(cuda::functionMaxDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
              cuda::streamNonBlocking == CU_STREAM_NON_BLOCKING &&
              cuda::eventDefault == CU_EVENT_DEFAULT &&
              cuda::eventDisableTiming == CU_EVENT_DISABLE_TIMING &&
              cuda::captureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
              cuda::jitErrorLog == CU_JIT_ERROR_LOG_BUFFER &&
              cuda::jitErrorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

EXPECT_SAME(CublasLtApi, version, cublasLtGetVersion);
EXPECT_SAME(CublasLtApi, statusName, cublasLtGetStatusName);
EXPECT_SAME(CublasLtApi, statusText, cublasLtGetStatusString);
EXPECT_SAME(CublasLtApi, create, cublasLtCreate);
EXPECT_SAME(CublasLtApi, destroy, cublasLtDestroy);
EXPECT_SAME(CublasLtApi, productCreate, cublasLtMatmulDescCreate);
EXPECT_SAME(CublasLtApi, productDestroy, cublasLtMatmulDescDestroy);
EXPECT_SAME(CublasLtApi, productSet, cublasLtMatmulDescSetAttribute);
EXPECT_SAME(CublasLtApi, layoutCreate, cublasLtMatrixLayoutCreate);
EXPECT_SAME(CublasLtApi, layoutDestroy, cublasLtMatrixLayoutDestroy);
EXPECT_SAME(CublasLtApi, layoutSet, cublasLtMatrixLayoutSetAttribute);
EXPECT_SAME(CublasLtApi, preferenceCreate, cublasLtMatmulPreferenceCreate);
EXPECT_SAME(CublasLtApi, preferenceDestroy, cublasLtMatmulPreferenceDestroy);
EXPECT_SAME(CublasLtApi, preferenceSet, cublasLtMatmulPreferenceSetAttribute);
EXPECT_SAME(CublasLtApi, choose, cublasLtMatmulAlgoGetHeuristic);
EXPECT_SAME(CublasLtApi, run, cublasLtMatmul);

static_assert(sizeof(cuda::LtAlgorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(cuda::LtChoice) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              offsetof(cuda::LtChoice, workspaceBytes) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) &&
              offsetof(cuda::LtChoice, state) == offsetof(cublasLtMatmulHeuristicResult_t, state) &&
              offsetof(cuda::LtChoice, waves) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));
static_assert(cuda::typeF32 == CUDA_R_32F && cuda::typeF64 == CUDA_R_64F &&
              cuda::typeBF16 == CUDA_R_16BF && cuda::computeF32 == CUBLAS_COMPUTE_32F &&
              cuda::computeF64 == CUBLAS_COMPUTE_64F && cuda::operationNone == CUBLAS_OP_N &&
              cuda::operationTranspose == CUBLAS_OP_T);
static_assert(cuda::productTransposeA == CUBLASLT_MATMUL_DESC_TRANSA &&
              cuda::productTransposeB == CUBLASLT_MATMUL_DESC_TRANSB &&
              cuda::productEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE &&
              cuda::productBiasPointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER &&
              cuda::productBiasBatchStride == CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE &&
              cuda::epilogueNone == CUBLASLT_EPILOGUE_DEFAULT &&
              cuda::epilogueBias == CUBLASLT_EPILOGUE_BIAS &&
              cuda::layoutBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
              cuda::layoutBatchStride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
              cuda::preferenceWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES &&
              cuda::preferenceAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
              cuda::preferenceAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES &&
              cuda::preferenceAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES &&
              cuda::preferenceAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);

#if __has_include(<nccl.h>)
EXPECT_SAME(NcclApi, version, ncclGetVersion);
EXPECT_SAME(NcclApi, statusText, ncclGetErrorString);
EXPECT_SAME(NcclApi, meeting, ncclGetUniqueId);
EXPECT_SAME(NcclApi, join, ncclCommInitRank);
EXPECT_SAME(NcclApi, leave, ncclCommDestroy);
EXPECT_SAME(NcclApi, scaledSum, ncclRedOpCreatePreMulSum);
EXPECT_SAME(NcclApi, forgetSum, ncclRedOpDestroy);
EXPECT_SAME(NcclApi, allReduce, ncclAllReduce);
EXPECT_SAME(NcclApi, send, ncclSend);
EXPECT_SAME(NcclApi, receive, ncclRecv);
EXPECT_SAME(NcclApi, groupBegin, ncclGroupStart);
EXPECT_SAME(NcclApi, groupEnd, ncclGroupEnd);
static_assert(sizeof(cuda::NcclMeeting) == sizeof(ncclUniqueId));
static_assert(cuda::ncclBytes == ncclUint8 && cuda::ncclF32 == ncclFloat32 &&
              cuda::ncclF64 == ncclFloat64 && cuda::ncclAdd == ncclSum &&
              cuda::ncclScalarOnDevice == ncclScalarDevice);
#endif
#if __has_include(<cufft.h>)
EXPECT_SAME(CufftApi, version, cufftGetVersion);
EXPECT_SAME(CufftApi, create, cufftCreate);
EXPECT_SAME(CufftApi, destroy, cufftDestroy);
EXPECT_SAME(CufftApi, setAutoAllocation, cufftSetAutoAllocation);
EXPECT_SAME(CufftApi, makePlan, cufftMakePlanMany64);
EXPECT_SAME(CufftApi, setWorkspace, cufftSetWorkArea);
EXPECT_SAME(CufftApi, setStream, cufftSetStream);
EXPECT_SAME(CufftApi, forwardF32, cufftExecR2C);
EXPECT_SAME(CufftApi, inverseF32, cufftExecC2R);
EXPECT_SAME(CufftApi, forwardF64, cufftExecD2Z);
EXPECT_SAME(CufftApi, inverseF64, cufftExecZ2D);
static_assert(sizeof(cuda::FftComplexF32) == sizeof(cufftComplex) &&
              sizeof(cuda::FftComplexF64) == sizeof(cufftDoubleComplex));
static_assert(cuda::fftForwardF32 == CUFFT_R2C && cuda::fftInverseF32 == CUFFT_C2R &&
              cuda::fftForwardF64 == CUFFT_D2Z && cuda::fftInverseF64 == CUFFT_Z2D);
#endif
#if __has_include(<cudnn.h>)
EXPECT_SAME(CudnnApi, version, cudnnGetVersion);
EXPECT_SAME(CudnnApi, statusText, cudnnGetErrorString);
EXPECT_SAME(CudnnApi, lastError, cudnnGetLastErrorString);
EXPECT_SAME(CudnnApi, create, cudnnCreate);
EXPECT_SAME(CudnnApi, destroy, cudnnDestroy);
EXPECT_SAME(CudnnApi, setStream, cudnnSetStream);
EXPECT_SAME(CudnnApi, descriptorCreate, cudnnBackendCreateDescriptor);
EXPECT_SAME(CudnnApi, descriptorDestroy, cudnnBackendDestroyDescriptor);
EXPECT_SAME(CudnnApi, descriptorSet, cudnnBackendSetAttribute);
EXPECT_SAME(CudnnApi, descriptorGet, cudnnBackendGetAttribute);
EXPECT_SAME(CudnnApi, descriptorFinalize, cudnnBackendFinalize);
EXPECT_SAME(CudnnApi, execute, cudnnBackendExecute);
#define EXPECT_EQUAL(ours, theirs) static_assert(int(cuda::dnn::ours) == int(theirs), #theirs)
EXPECT_EQUAL(kindPointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
EXPECT_EQUAL(kindEngine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
EXPECT_EQUAL(kindEngineConfig, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
EXPECT_EQUAL(kindHeuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
EXPECT_EQUAL(kindPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
EXPECT_EQUAL(kindPointwiseOperation, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
EXPECT_EQUAL(kindGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
EXPECT_EQUAL(kindVariantPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
EXPECT_EQUAL(kindTensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
EXPECT_EQUAL(kindMatmul, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
EXPECT_EQUAL(kindMatmulOperation, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
EXPECT_EQUAL(kindReduction, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
EXPECT_EQUAL(kindReductionOperation, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
EXPECT_EQUAL(kindReshapeOperation, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
EXPECT_EQUAL(kindDeviceProperties, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
EXPECT_EQUAL(pointwiseMode, CUDNN_ATTR_POINTWISE_MODE);
EXPECT_EQUAL(pointwisePrecision, CUDNN_ATTR_POINTWISE_MATH_PREC);
EXPECT_EQUAL(pointwiseAxis, CUDNN_ATTR_POINTWISE_AXIS);
EXPECT_EQUAL(heuristicsMode, CUDNN_ATTR_ENGINEHEUR_MODE);
EXPECT_EQUAL(heuristicsGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
EXPECT_EQUAL(heuristicsResults, CUDNN_ATTR_ENGINEHEUR_RESULTS);
EXPECT_EQUAL(heuristicsDevice, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
EXPECT_EQUAL(configEngine, CUDNN_ATTR_ENGINECFG_ENGINE);
EXPECT_EQUAL(planHandle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
EXPECT_EQUAL(planConfig, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
EXPECT_EQUAL(planWorkspace, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
EXPECT_EQUAL(planDevice, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
EXPECT_EQUAL(pointwiseOperationDescriptor, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
EXPECT_EQUAL(pointwiseOperationX, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
EXPECT_EQUAL(pointwiseOperationB, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
EXPECT_EQUAL(pointwiseOperationY, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
EXPECT_EQUAL(pointwiseOperationT, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
EXPECT_EQUAL(graphHandle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
EXPECT_EQUAL(graphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
EXPECT_EQUAL(tensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
EXPECT_EQUAL(tensorType, CUDNN_ATTR_TENSOR_DATA_TYPE);
EXPECT_EQUAL(tensorSizes, CUDNN_ATTR_TENSOR_DIMENSIONS);
EXPECT_EQUAL(tensorStrides, CUDNN_ATTR_TENSOR_STRIDES);
EXPECT_EQUAL(tensorName, CUDNN_ATTR_TENSOR_UNIQUE_ID);
EXPECT_EQUAL(tensorIsVirtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
EXPECT_EQUAL(tensorIsByValue, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
EXPECT_EQUAL(packNames, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
EXPECT_EQUAL(packPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
EXPECT_EQUAL(packWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
EXPECT_EQUAL(engineNotes, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
EXPECT_EQUAL(matmulPrecision, CUDNN_ATTR_MATMUL_COMP_TYPE);
EXPECT_EQUAL(matmulOperationA, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
EXPECT_EQUAL(matmulOperationB, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
EXPECT_EQUAL(matmulOperationC, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
EXPECT_EQUAL(matmulOperationDescriptor, CUDNN_ATTR_OPERATION_MATMUL_DESC);
EXPECT_EQUAL(reductionOperator, CUDNN_ATTR_REDUCTION_OPERATOR);
EXPECT_EQUAL(reductionPrecision, CUDNN_ATTR_REDUCTION_COMP_TYPE);
EXPECT_EQUAL(reductionOperationX, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
EXPECT_EQUAL(reductionOperationY, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
EXPECT_EQUAL(reductionOperationDescriptor, CUDNN_ATTR_OPERATION_REDUCTION_DESC);
EXPECT_EQUAL(reshapeOperationX, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
EXPECT_EQUAL(reshapeOperationY, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
EXPECT_EQUAL(deviceJson, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
EXPECT_EQUAL(typeHandle, CUDNN_TYPE_HANDLE);
EXPECT_EQUAL(typeDataType, CUDNN_TYPE_DATA_TYPE);
EXPECT_EQUAL(typeBoolean, CUDNN_TYPE_BOOLEAN);
EXPECT_EQUAL(typeInt64, CUDNN_TYPE_INT64);
EXPECT_EQUAL(typePointer, CUDNN_TYPE_VOID_PTR);
EXPECT_EQUAL(typeHeuristicsMode, CUDNN_TYPE_HEUR_MODE);
EXPECT_EQUAL(typeNote, CUDNN_TYPE_NUMERICAL_NOTE);
EXPECT_EQUAL(typePointwiseMode, CUDNN_TYPE_POINTWISE_MODE);
EXPECT_EQUAL(typeDescriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
EXPECT_EQUAL(typeReduction, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE);
EXPECT_EQUAL(typeChar, CUDNN_TYPE_CHAR);
EXPECT_EQUAL(add, CUDNN_POINTWISE_ADD);
EXPECT_EQUAL(multiply, CUDNN_POINTWISE_MUL);
EXPECT_EQUAL(divide, CUDNN_POINTWISE_DIV);
EXPECT_EQUAL(subtract, CUDNN_POINTWISE_SUB);
EXPECT_EQUAL(exponential, CUDNN_POINTWISE_EXP);
EXPECT_EQUAL(logarithm, CUDNN_POINTWISE_LOG);
EXPECT_EQUAL(greaterEqual, CUDNN_POINTWISE_CMP_GE);
EXPECT_EQUAL(index, CUDNN_POINTWISE_GEN_INDEX);
EXPECT_EQUAL(select, CUDNN_POINTWISE_BINARY_SELECT);
EXPECT_EQUAL(f32, CUDNN_DATA_FLOAT);
EXPECT_EQUAL(i32, CUDNN_DATA_INT32);
EXPECT_EQUAL(bf16, CUDNN_DATA_BFLOAT16);
EXPECT_EQUAL(boolean, CUDNN_DATA_BOOLEAN);
EXPECT_EQUAL(sum, CUDNN_REDUCE_TENSOR_ADD);
EXPECT_EQUAL(maximum, CUDNN_REDUCE_TENSOR_MAX);
EXPECT_EQUAL(heuristicsA, CUDNN_HEUR_MODE_A);
EXPECT_EQUAL(noteNondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
static_assert(cuda::dnn::notes >= CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
#endif

TEST(CudaHeaders, AgreeWithOurPrototypes) {
  // Everything was compared while this was compiled. Symbols of the tables are those of the
  // headers' macros.
  EXPECT_GE(CUDA_VERSION, 12000);
}

} // namespace
