//===- CudaBackend.cpp - what programs are made of on a GPU -----------------===//
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/ScalarText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;

namespace hybrid::cuda {

std::optional<AttentionBy> attentionByName(StringRef name) {
  return llvm::StringSwitch<std::optional<AttentionBy>>(name)
      .Case("own", AttentionBy::Own)
      .Case("cudnn", AttentionBy::Cudnn)
      .Case("auto", AttentionBy::Auto)
      .Default(std::nullopt);
}

std::optional<TransformsBy> transformsByName(StringRef name) {
  return llvm::StringSwitch<std::optional<TransformsBy>>(name)
      .Case("own", TransformsBy::Own)
      .Case("cufft", TransformsBy::Cufft)
      .Case("auto", TransformsBy::Auto)
      .Default(std::nullopt);
}

std::optional<ProductsBy> productsByName(StringRef name) {
  return llvm::StringSwitch<std::optional<ProductsBy>>(name)
      .Case("cublaslt", ProductsBy::Cublaslt)
      .Case("auto", ProductsBy::Auto)
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

KernelName CudaBackend::kernel(StringRef name, Type element, const KernelConstants &constants,
                               ArrayRef<std::string> functions) const {
  std::string text = camelCase(name) + "<" + typeText(element).str() + ", " + constants.text;
  for (const std::string &function : functions)
    text += ", " + function;
  return {text + ">", {}};
}

std::string CudaBackend::storeFunctor(const View &place) const {
  const int64_t stride = *place.rowStride(),
                width = std::gcd(std::gcd(16 / bytesOf(place.element), place.offset), stride);
  return llvm::formatv("RowStore<{0}, {1}{2}>", typeText(place.element), stride,
                       width > 1 ? ", " + std::to_string(width) : "");
}

} // namespace hybrid::cuda
