//===- CublasLtApi.h - the part of cuBLASLt that the runtime calls ----------===//
//
// As DriverApi.h: prototypes and constants of our own, compared with cublasLt.h by a test. The
// library is opened when the first program with a matrix product is prepared.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/Library.h"
#include <cstddef>
#include <cstdint>

namespace hybrid::rt::cuda {

using LtStatus = int;                             // cublasStatus_t
using LtHandle = struct cublasLtContext *;        // cublasLtHandle_t
using LtProduct = struct LtMatmulDescOpaque *;    // cublasLtMatmulDesc_t
using LtLayout = struct LtMatrixLayoutOpaque *;   // cublasLtMatrixLayout_t
using LtPreference = struct LtPreferenceOpaque *; // cublasLtMatmulPreference_t

/// cublasLtMatmulAlgo_t: only copied.
struct LtAlgorithm {
  uint64_t data[8];
};
/// cublasLtMatmulHeuristicResult_t.
struct LtChoice {
  LtAlgorithm algorithm;
  size_t workspaceBytes;
  LtStatus state;
  float waves;
  int reserved[4];
};

constexpr int typeF32 = 0, typeF64 = 1, typeBF16 = 14; // cudaDataType_t
// cublasComputeType_t. 32F is full single precision: never TF32.
constexpr int computeF32 = 68, computeF64 = 70;
constexpr int operationNone = 0, operationTranspose = 1; // cublasOperation_t
constexpr int productTransposeA = 3, productTransposeB = 4, productEpilogue = 7,
              productBiasPointer = 8, productBiasBatchStride = 10; // desc attributes
constexpr uint32_t epilogueNone = 1, epilogueBias = 4;             // cublasLtEpilogue_t
constexpr int layoutBatchCount = 5, layoutBatchStride = 6;         // layout attributes
constexpr int preferenceWorkspace = 1, preferenceAlignmentA = 5, preferenceAlignmentB = 6,
              preferenceAlignmentC = 7, preferenceAlignmentD = 8; // preference attributes

// Name, the symbol in the library, result, parameters.
#define HYBRID_CUBLASLT_CALLS(CALL)                                                                \
  CALL(version, "cublasLtGetVersion", size_t, ())                                                  \
  CALL(statusName, "cublasLtGetStatusName", const char *, (LtStatus status))                       \
  CALL(statusText, "cublasLtGetStatusString", const char *, (LtStatus status))                     \
  CALL(create, "cublasLtCreate", LtStatus, (LtHandle * handle))                                    \
  CALL(destroy, "cublasLtDestroy", LtStatus, (LtHandle handle))                                    \
  CALL(productCreate, "cublasLtMatmulDescCreate", LtStatus,                                        \
       (LtProduct * product, int computeType, int scaleType))                                      \
  CALL(productDestroy, "cublasLtMatmulDescDestroy", LtStatus, (LtProduct product))                 \
  CALL(productSet, "cublasLtMatmulDescSetAttribute", LtStatus,                                     \
       (LtProduct product, int attribute, const void *value, size_t bytes))                        \
  CALL(layoutCreate, "cublasLtMatrixLayoutCreate", LtStatus,                                       \
       (LtLayout * layout, int type, uint64_t rows, uint64_t columns, int64_t stride))             \
  CALL(layoutDestroy, "cublasLtMatrixLayoutDestroy", LtStatus, (LtLayout layout))                  \
  CALL(layoutSet, "cublasLtMatrixLayoutSetAttribute", LtStatus,                                    \
       (LtLayout layout, int attribute, const void *value, size_t bytes))                          \
  CALL(preferenceCreate, "cublasLtMatmulPreferenceCreate", LtStatus, (LtPreference * preference))  \
  CALL(preferenceDestroy, "cublasLtMatmulPreferenceDestroy", LtStatus, (LtPreference preference))  \
  CALL(preferenceSet, "cublasLtMatmulPreferenceSetAttribute", LtStatus,                            \
       (LtPreference preference, int attribute, const void *value, size_t bytes))                  \
  CALL(choose, "cublasLtMatmulAlgoGetHeuristic", LtStatus,                                         \
       (LtHandle handle, LtProduct product, LtLayout a, LtLayout b, LtLayout c, LtLayout d,        \
        LtPreference preference, int wanted, LtChoice *choices, int *found))                       \
  CALL(run, "cublasLtMatmul", LtStatus,                                                            \
       (LtHandle handle, LtProduct product, const void *alpha, const void *a, LtLayout layoutA,    \
        const void *b, LtLayout layoutB, const void *beta, const void *c, LtLayout layoutC,        \
        void *d, LtLayout layoutD, const LtAlgorithm *algorithm, void *workspace,                  \
        size_t workspaceBytes, Stream stream))

HYBRID_LIBRARY_TABLE(CublasLtApi, HYBRID_CUBLASLT_CALLS)

/// Opens libcublasLt.so.13 or .12 (or the file that HYBRID_CUBLASLT names), once a process.
Result<const CublasLtApi *> openCublasLt();

/// "cublasLtMatmul: CUBLAS_STATUS_NOT_SUPPORTED (...)".
std::string describe(const CublasLtApi &library, std::string_view call, LtStatus status);

} // namespace hybrid::rt::cuda
