//===- CublasLt.cpp - the tests' cuBLASLt -----------------------------------===//
//
// Products of f32, f64, and of bf16 into bf16 or f32. An algorithm is good for the problem it was
// chosen for only, wants its workspace, and takes pointers as aligned as the preference promised.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CublasLtApi.h"
#include "test/cuda/driver/Device.h"
#include "test/cuda/driver/Matmul.h"
#include <algorithm>
#include <cstring>

using namespace hybrid::rt::cuda;
using namespace hybrid::shim;

namespace hybrid::rt::cuda {
struct cublasLtContext {};
struct LtMatmulDescOpaque {
  int computeType, scaleType;
  int32_t transposeA = operationNone, transposeB = operationNone;
  uint32_t epilogue = epilogueNone;
  uint64_t bias = 0;
  int64_t biasBatchStride = 0;
};
struct LtMatrixLayoutOpaque : MatrixLayout {};
struct LtPreferenceOpaque {
  uint64_t workspaceBytes = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};
};
} // namespace hybrid::rt::cuda

namespace {

constexpr LtStatus ltNotInitialized = 1, ltInvalidValue = 7, ltExecutionFailed = 13,
                   ltNotSupported = 15;

struct Library {
  Handles<cublasLtContext> contexts;
  Handles<LtMatmulDescOpaque> products;
  Handles<LtMatrixLayoutOpaque> layouts;
  Handles<LtPreferenceOpaque> preferences;
};
Library &library() {
  static auto *all = new Library();
  return *all;
}

thread_local LtStatus lastStatus = 0;
thread_local std::string lastMessage;
LtStatus failLt(LtStatus status, std::string message) {
  lastStatus = status;
  lastMessage = std::move(message);
  return status;
}

/// What the eight words of an algorithm say.
struct Chosen {
  uint64_t magic, problem, workspaceBytes;
  uint32_t alignment[4];
  uint64_t unused[3];
};
static_assert(sizeof(Chosen) == sizeof(LtAlgorithm));
constexpr uint64_t magic = 0x68796272696431;

uint64_t hashProblem(const LtMatmulDescOpaque &product, const MatrixLayout (&layouts)[4]) {
  uint64_t hash = 0xcbf29ce484222325;
  auto add = [&](uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (uint64_t value :
       {uint64_t(product.computeType), uint64_t(product.scaleType), uint64_t(product.transposeA),
        uint64_t(product.transposeB), uint64_t(product.epilogue)})
    add(value);
  for (const MatrixLayout &l : layouts)
    for (uint64_t value : {uint64_t(l.type), l.rows, l.columns, uint64_t(l.stride),
                           uint64_t(l.batchCount), uint64_t(l.batchStride)})
      add(value);
  return hash;
}

std::string shape(const MatrixLayout &layout) {
  return std::to_string(layout.rows) + " x " + std::to_string(layout.columns) + " (" +
         std::to_string(layout.stride) + ")";
}

/// Whether the product makes sense and is of types that cuBLASLt has.
LtStatus check(const LtMatmulDescOpaque &product, const MatrixLayout (&layouts)[4]) {
  auto &[a, b, c, d] = layouts;
  for (const MatrixLayout &layout : layouts) {
    if (!layout.rows || !layout.columns || layout.stride < static_cast<int64_t>(layout.rows))
      return failLt(ltInvalidValue, "a matrix of " + shape(layout));
    if (layout.batchCount != d.batchCount || layout.batchCount < 1)
      return failLt(ltInvalidValue, "batches of " + std::to_string(layout.batchCount) + " and " +
                                        std::to_string(d.batchCount) + " matrices");
  }
  bool ta = product.transposeA == operationTranspose, tb = product.transposeB == operationTranspose;
  if ((ta ? a.columns : a.rows) != d.rows || (tb ? b.rows : b.columns) != d.columns ||
      (ta ? a.rows : a.columns) != (tb ? b.columns : b.rows) || c.rows != d.rows ||
      c.columns != d.columns)
    return failLt(ltInvalidValue, "shapes do not fit: a " + shape(a) + (ta ? "^T" : "") + ", b " +
                                      shape(b) + (tb ? "^T" : "") + ", c " + shape(c) + ", d " +
                                      shape(d));
  bool all64 = a.type == typeF64 && b.type == typeF64 && c.type == typeF64 && d.type == typeF64;
  bool to32 = d.type == typeF32 && (a.type == typeF32 || a.type == typeBF16);
  bool toBf16 = d.type == typeBF16 && a.type == typeBF16;
  bool known = product.computeType == computeF64
                   ? all64 && product.scaleType == typeF64
                   : product.computeType == computeF32 && product.scaleType == typeF32 &&
                         (to32 || toBf16) && b.type == a.type && c.type == d.type;
  if (!known)
    return failLt(ltNotSupported, "a product of types " + std::to_string(a.type) + ", " +
                                      std::to_string(b.type) + ", " + std::to_string(c.type) +
                                      ", " + std::to_string(d.type) + " with compute type " +
                                      std::to_string(product.computeType));
  return success;
}

} // namespace

HYBRID_DRIVER_CALL size_t cublasLtGetVersion() { return 130000; }

HYBRID_DRIVER_CALL const char *cublasLtGetStatusName(LtStatus status) {
  switch (status) {
  case success:
    return "CUBLAS_STATUS_SUCCESS";
  case ltNotInitialized:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case ltInvalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case ltExecutionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case ltNotSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

/// The sentence of the calling thread's last failure when that was it.
HYBRID_DRIVER_CALL const char *cublasLtGetStatusString(LtStatus status) {
  return status && status == lastStatus ? lastMessage.c_str() : cublasLtGetStatusName(status);
}

HYBRID_DRIVER_CALL LtStatus cublasLtCreate(LtHandle *handle) {
  std::lock_guard lock(device().mutex);
  if (device().ready("cublasLtCreate"))
    return failLt(ltNotInitialized, "cublasLtCreate without a current context");
  *handle = library().contexts.make({});
  return success;
}

HYBRID_DRIVER_CALL LtStatus cublasLtDestroy(LtHandle handle) {
  std::lock_guard lock(device().mutex);
  if (library().contexts.destroy(handle))
    return success;
  return failLt(ltInvalidValue, "cublasLtDestroy of a handle that does not exist");
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatmulDescCreate(LtProduct *product, int computeType,
                                                     int scaleType) {
  std::lock_guard lock(device().mutex);
  *product = library().products.make({computeType, scaleType});
  return success;
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatmulDescDestroy(LtProduct product) {
  std::lock_guard lock(device().mutex);
  if (library().products.destroy(product))
    return success;
  return failLt(ltInvalidValue, "cublasLtMatmulDescDestroy of what does not exist");
}

/// Copies an attribute when the caller's size is right.
template <typename T>
static LtStatus assign(T &to, const void *value, size_t bytes, const char *call) {
  if (bytes != sizeof(T))
    return failLt(ltInvalidValue, std::string(call) + ": an attribute of " +
                                      std::to_string(sizeof(T)) + " bytes was given " +
                                      std::to_string(bytes));
  std::memcpy(&to, value, bytes);
  return success;
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatmulDescSetAttribute(LtProduct product, int attribute,
                                                           const void *value, size_t bytes) {
  std::lock_guard lock(device().mutex);
  constexpr const char *call = "cublasLtMatmulDescSetAttribute";
  if (!library().products.has(product))
    return failLt(ltInvalidValue, std::string(call) + " of what does not exist");
  switch (attribute) {
  case productTransposeA:
    return assign(product->transposeA, value, bytes, call);
  case productTransposeB:
    return assign(product->transposeB, value, bytes, call);
  case productEpilogue:
    return assign(product->epilogue, value, bytes, call);
  case productBiasPointer:
    return assign(product->bias, value, bytes, call);
  case productBiasBatchStride:
    return assign(product->biasBatchStride, value, bytes, call);
  }
  return failLt(ltNotSupported, std::string(call) + ": attribute " + std::to_string(attribute));
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatrixLayoutCreate(LtLayout *layout, int type, uint64_t rows,
                                                       uint64_t columns, int64_t stride) {
  std::lock_guard lock(device().mutex);
  *layout = library().layouts.make({{type, rows, columns, stride}});
  return success;
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatrixLayoutDestroy(LtLayout layout) {
  std::lock_guard lock(device().mutex);
  if (library().layouts.destroy(layout))
    return success;
  return failLt(ltInvalidValue, "cublasLtMatrixLayoutDestroy of what does not exist");
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatrixLayoutSetAttribute(LtLayout layout, int attribute,
                                                             const void *value, size_t bytes) {
  std::lock_guard lock(device().mutex);
  constexpr const char *call = "cublasLtMatrixLayoutSetAttribute";
  if (!library().layouts.has(layout))
    return failLt(ltInvalidValue, std::string(call) + " of what does not exist");
  switch (attribute) {
  case layoutBatchCount:
    return assign(layout->batchCount, value, bytes, call);
  case layoutBatchStride:
    return assign(layout->batchStride, value, bytes, call);
  }
  return failLt(ltNotSupported, std::string(call) + ": attribute " + std::to_string(attribute));
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatmulPreferenceCreate(LtPreference *preference) {
  std::lock_guard lock(device().mutex);
  *preference = library().preferences.make({});
  return success;
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatmulPreferenceDestroy(LtPreference preference) {
  std::lock_guard lock(device().mutex);
  if (library().preferences.destroy(preference))
    return success;
  return failLt(ltInvalidValue, "cublasLtMatmulPreferenceDestroy of what does not exist");
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatmulPreferenceSetAttribute(LtPreference preference,
                                                                 int attribute, const void *value,
                                                                 size_t bytes) {
  std::lock_guard lock(device().mutex);
  constexpr const char *call = "cublasLtMatmulPreferenceSetAttribute";
  if (!library().preferences.has(preference))
    return failLt(ltInvalidValue, std::string(call) + " of what does not exist");
  if (attribute == preferenceWorkspace)
    return assign(preference->workspaceBytes, value, bytes, call);
  if (attribute >= preferenceAlignmentA && attribute <= preferenceAlignmentD)
    return assign(preference->alignment[attribute - preferenceAlignmentA], value, bytes, call);
  return failLt(ltNotSupported, std::string(call) + ": attribute " + std::to_string(attribute));
}

/// The problem, when all of it exists.
static LtStatus gather(const char *call, LtHandle handle, LtProduct product, LtLayout a, LtLayout b,
                       LtLayout c, LtLayout d, MatrixLayout (&layouts)[4]) {
  if (!library().contexts.has(handle) || !library().products.has(product))
    return failLt(ltInvalidValue, std::string(call) + ": no such handle or description");
  for (int i = 0; LtLayout each : {a, b, c, d}) {
    if (!library().layouts.has(each))
      return failLt(ltInvalidValue, std::string(call) + ": no such layout");
    layouts[i++] = *each;
  }
  return check(*product, layouts);
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatmulAlgoGetHeuristic(LtHandle handle, LtProduct product,
                                                           LtLayout a, LtLayout b, LtLayout c,
                                                           LtLayout d, LtPreference preference,
                                                           int wanted, LtChoice *choices,
                                                           int *found) {
  std::lock_guard lock(device().mutex);
  *found = 0;
  MatrixLayout layouts[4];
  constexpr const char *call = "cublasLtMatmulAlgoGetHeuristic";
  if (LtStatus status = gather(call, handle, product, a, b, c, d, layouts))
    return status;
  if (!library().preferences.has(preference) || wanted < 1)
    return failLt(ltInvalidValue, std::string(call) + ": no preference, or no room for a result");
  // A little workspace where there is any, so that passing it on is tested.
  uint64_t workspace = std::min<uint64_t>(preference->workspaceBytes, 4096);
  Chosen chosen = {magic, hashProblem(*product, layouts), workspace, {}, {}};
  std::memcpy(chosen.alignment, preference->alignment, sizeof(chosen.alignment));
  choices[0] = {};
  std::memcpy(&choices[0].algorithm, &chosen, sizeof(chosen));
  choices[0].workspaceBytes = chosen.workspaceBytes;
  choices[0].state = success;
  choices[0].waves = 1;
  *found = 1;
  return success;
}

HYBRID_DRIVER_CALL LtStatus cublasLtMatmul(LtHandle handle, LtProduct product, const void *alpha,
                                           const void *a, LtLayout layoutA, const void *b,
                                           LtLayout layoutB, const void *beta, const void *c,
                                           LtLayout layoutC, void *d, LtLayout layoutD,
                                           const LtAlgorithm *algorithm, void *workspace,
                                           size_t workspaceBytes, Stream stream) {
  std::lock_guard lock(device().mutex);
  MatrixLayout layouts[4];
  if (LtStatus status =
          gather("cublasLtMatmul", handle, product, layoutA, layoutB, layoutC, layoutD, layouts))
    return status;
  auto scalar = [&](const void *value) {
    return product->scaleType == typeF64 ? *static_cast<const double *>(value)
                                         : static_cast<double>(*static_cast<const float *>(value));
  };
  bool hasBias = product->epilogue == epilogueBias;
  if (!hasBias && product->epilogue != epilogueNone)
    return failLt(ltNotSupported, "cublasLtMatmul: epilogue " + std::to_string(product->epilogue));
  MatrixProduct problem = {product->transposeA == operationTranspose,
                           product->transposeB == operationTranspose,
                           scalar(alpha),
                           scalar(beta),
                           layouts[0],
                           layouts[1],
                           layouts[2],
                           layouts[3],
                           a,
                           b,
                           c,
                           d,
                           hasBias ? reinterpret_cast<const void *>(product->bias) : nullptr,
                           product->biasBatchStride};
  if (problem.beta == 0)
    problem.dataC = d;

  Chosen chosen = {magic, hashProblem(*product, layouts), 0, {1, 1, 1, 1}, {}};
  if (algorithm)
    std::memcpy(&chosen, algorithm, sizeof(chosen));
  if (chosen.magic != magic || chosen.problem != hashProblem(*product, layouts))
    return failLt(ltInvalidValue, "cublasLtMatmul: the algorithm was chosen for another problem");
  if (workspaceBytes < chosen.workspaceBytes)
    return failLt(ltInvalidValue, "cublasLtMatmul: a workspace of " +
                                      std::to_string(workspaceBytes) + " bytes, and " +
                                      std::to_string(chosen.workspaceBytes) + " are needed");
  const void *pointers[4] = {a, b, problem.dataC, d};
  for (int i = 0; i < 4; ++i)
    if (!chosen.alignment[i] || reinterpret_cast<uintptr_t>(pointers[i]) % chosen.alignment[i])
      return failLt(ltInvalidValue, std::string("cublasLtMatmul: matrix ") + "abcd"[i] +
                                        " is not aligned to the " +
                                        std::to_string(chosen.alignment[i]) +
                                        " bytes that the algorithm was chosen for");

  Status status = device().enqueue("cublasLtMatmul", stream, [=]() -> Status {
    const MatrixLayout *of[4] = {&problem.a, &problem.b, &problem.c, &problem.d};
    const void *data[4] = {problem.dataA, problem.dataB, problem.dataC, problem.dataD};
    for (int i = 0; i < 4; ++i) {
      size_t bytes = static_cast<size_t>(of[i]->elements()) * elementBytes(of[i]->type);
      if (!device().memory.contains(reinterpret_cast<uint64_t>(data[i]), bytes))
        return device().failForEver(errorIllegalAddress,
                                    std::string("cublasLtMatmul: matrix ") + "abcd"[i] + " of " +
                                        shape(*of[i]) + " does not lie in the device's memory");
    }
    const uint64_t biasElements =
        problem.d.rows +
        static_cast<uint64_t>((problem.d.batchCount - 1) * problem.biasBatchStride);
    if (hasBias && !device().memory.contains(reinterpret_cast<uint64_t>(problem.bias),
                                             biasElements * elementBytes(problem.d.type)))
      return device().failForEver(errorIllegalAddress,
                                  "cublasLtMatmul: the bias does not lie in the device's memory");
    if (!device().memory.contains(reinterpret_cast<uint64_t>(workspace), chosen.workspaceBytes) &&
        chosen.workspaceBytes)
      return device().failForEver(errorIllegalAddress, "cublasLtMatmul: the workspace does not lie "
                                                       "in the device's memory");
    if (chosen.workspaceBytes) // it is ours to write
      std::memset(workspace, 0xff, chosen.workspaceBytes);
    multiply(problem);
    return success;
  });
  if (!status)
    return success;
  const std::string *message = messageOf(status);
  return failLt(ltExecutionFailed, message ? *message : "cublasLtMatmul after an earlier error");
}
