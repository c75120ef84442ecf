//===- CudaBackend.cpp - what programs are made of on a GPU -----------------===//
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/ScalarText.h"
#include "codegen/cuda/TextEmitter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hybrid::cuda {

std::optional<AttentionBy> attentionByName(StringRef name) {
  return llvm::StringSwitch<std::optional<AttentionBy>>(name)
      .Case("own", AttentionBy::Own)
      .Case("cudnn", AttentionBy::Cudnn)
      .Case("auto", AttentionBy::Auto)
      .Default(std::nullopt);
}

/// "rmsnorm_forward" -> "rmsnormForward": kernels are functions of C++.
static std::string camelCase(StringRef name) {
  std::string result;
  bool upper = false;
  for (char c : name) {
    if (c == '_')
      upper = true;
    else
      result += upper ? llvm::toUpper(c) : c, upper = false;
  }
  return result;
}

KernelName CudaBackend::kernel(StringRef name, Type element,
                               const KernelConstants &constants) const {
  return {camelCase(name) + "<" + typeText(element).str() + ", " + constants.text + ">", {}};
}

GeneratedKernel CudaBackend::elementwise(ModuleTables &tables, Block *body, ArrayRef<View> operands,
                                         ArrayRef<View> results, bool byRows) const {
  return emitElementwise(tables, body, operands, results, byRows);
}

GeneratedKernel CudaBackend::fill(ModuleTables &tables, const View &to, double value) const {
  return emitFill(tables, to, value);
}

GeneratedKernel CudaBackend::reduction(ModuleTables &tables, ReduceKind kind, const Load &from,
                                       ArrayRef<int64_t> axes, const View &to) const {
  return emitReduction(tables, kind, from, axes, to);
}

GeneratedKernel CudaBackend::rowSums(ModuleTables &tables, const Load &from, int64_t rowsPerItem,
                                     const View &partial, double scale) const {
  return emitRowSums(tables, from, rowsPerItem, partial, scale);
}

} // namespace hybrid::cuda
