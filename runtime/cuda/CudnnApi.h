//===- CudnnApi.h - the part of cuDNN that the runtime calls ----------------===//
//
// As DriverApi.h: prototypes and constants of our own, compared with cudnn.h by a test where it is
// installed. The library is opened when the first program with library attention is prepared.
// Source: cudnn_graph.h of cuDNN 9.19. Required is 9.10.2: older ones want another value than
// -infinity in masks, and 9.10.0 and 9.10.1 compute attention wrongly (cudnn-frontend,
// sdpa_support_surface.h).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/Library.h"
#include <cstddef>
#include <cstdint>

namespace hybrid::rt::cuda {

using DnnStatus = int;                    // cudnnStatus_t
using DnnHandle = struct cudnnContext *;  // cudnnHandle_t
using DnnDescriptor = void *;             // cudnnBackendDescriptor_t
constexpr size_t leastDnnVersion = 91002; // of cudnnGetVersion()

namespace dnn {

constexpr int f32 = 0, i32 = 4, bf16 = 9, boolean = 11; // cudnnDataType_t

/// cudnnBackendDescriptorType_t.
enum Kind : int {
  kindPointwise = 0,
  kindEngine = 2,
  kindEngineConfig = 3,
  kindHeuristics = 4,
  kindPlan = 5,
  kindPointwiseOperation = 13,
  kindGraph = 15,
  kindVariantPack = 16,
  kindTensor = 17,
  kindMatmul = 18,
  kindMatmulOperation = 19,
  kindReduction = 21,
  kindReductionOperation = 22,
  kindReshapeOperation = 31,
  kindDeviceProperties = 38,
};

/// cudnnBackendAttributeName_t.
enum Attribute : int {
  pointwiseMode = 0,
  pointwisePrecision = 1,
  pointwiseAxis = 9,
  heuristicsMode = 200,
  heuristicsGraph = 201,
  heuristicsResults = 202,
  heuristicsDevice = 204,
  configEngine = 300,
  planHandle = 400,
  planConfig = 401,
  planWorkspace = 402,
  planDevice = 407,
  pointwiseOperationDescriptor = 750,
  pointwiseOperationX = 751,
  pointwiseOperationB = 752,
  pointwiseOperationY = 753,
  pointwiseOperationT = 758,
  graphHandle = 800,
  graphOperations = 801,
  tensorAlignment = 900,
  tensorType = 901,
  tensorSizes = 902,
  tensorStrides = 903,
  tensorName = 906,
  tensorIsVirtual = 907,
  tensorIsByValue = 908,
  packNames = 1000,
  packPointers = 1001,
  packWorkspace = 1003,
  engineNotes = 1303,
  matmulPrecision = 1500,
  matmulOperationA = 1520,
  matmulOperationB = 1521,
  matmulOperationC = 1522,
  matmulOperationDescriptor = 1523,
  reductionOperator = 1600,
  reductionPrecision = 1601,
  reductionOperationX = 1610,
  reductionOperationY = 1611,
  reductionOperationDescriptor = 1612,
  reshapeOperationX = 2200,
  reshapeOperationY = 2201,
  deviceJson = 2702,
};

/// cudnnBackendAttributeType_t.
enum Type : int {
  typeHandle = 0,
  typeDataType = 1,
  typeBoolean = 2, // bool
  typeInt64 = 3,
  typePointer = 6,
  typeHeuristicsMode = 8,
  typeNote = 11,
  typePointwiseMode = 14,
  typeDescriptor = 15,
  typeReduction = 18,
  typeChar = 24,
};

/// cudnnPointwiseMode_t.
enum Pointwise : int {
  add = 0,
  multiply = 1,
  divide = 6,
  subtract = 9,
  exponential = 13,
  logarithm = 15,
  greaterEqual = 303,
  index = 501, // the number of the element along an axis
  select = 601,
};

enum Reduction : int { sum = 0, maximum = 3 };      // cudnnReduceTensorOp_t
constexpr int heuristicsA = 3;                      // cudnnBackendHeurMode_t
constexpr int noteNondeterministic = 4, notes = 10; // cudnnBackendNumericalNote_t

} // namespace dnn

// Name, the symbol in the library, result, parameters.
#define HYBRID_CUDNN_CALLS(CALL)                                                                   \
  CALL(version, "cudnnGetVersion", size_t, ())                                                     \
  CALL(statusText, "cudnnGetErrorString", const char *, (DnnStatus status))                        \
  CALL(lastError, "cudnnGetLastErrorString", void, (char *text, size_t bytes))                     \
  CALL(create, "cudnnCreate", DnnStatus, (DnnHandle * handle))                                     \
  CALL(destroy, "cudnnDestroy", DnnStatus, (DnnHandle handle))                                     \
  CALL(setStream, "cudnnSetStream", DnnStatus, (DnnHandle handle, Stream stream))                  \
  CALL(descriptorCreate, "cudnnBackendCreateDescriptor", DnnStatus,                                \
       (int kind, DnnDescriptor *descriptor))                                                      \
  CALL(descriptorDestroy, "cudnnBackendDestroyDescriptor", DnnStatus, (DnnDescriptor descriptor))  \
  CALL(descriptorSet, "cudnnBackendSetAttribute", DnnStatus,                                       \
       (DnnDescriptor descriptor, int attribute, int type, int64_t count, const void *values))     \
  CALL(descriptorGet, "cudnnBackendGetAttribute", DnnStatus,                                       \
       (DnnDescriptor descriptor, int attribute, int type, int64_t room, int64_t *count,           \
        void *values))                                                                             \
  CALL(descriptorFinalize, "cudnnBackendFinalize", DnnStatus, (DnnDescriptor descriptor))          \
  CALL(execute, "cudnnBackendExecute", DnnStatus,                                                  \
       (DnnHandle handle, DnnDescriptor plan, DnnDescriptor pack))

HYBRID_LIBRARY_TABLE(CudnnApi, HYBRID_CUDNN_CALLS)

/// Opens libcudnn.so.9 (or the file that HYBRID_CUDNN names), once a process. The error says what
/// to do; so does that for a version below leastDnnVersion.
Result<const CudnnApi *> openCudnn();

/// "9.19.0".
std::string versionText(const CudnnApi &library);

/// "cudnnBackendFinalize: CUDNN_STATUS_NOT_SUPPORTED (...)".
std::string describe(const CudnnApi &library, std::string_view call, DnnStatus status);

} // namespace hybrid::rt::cuda
