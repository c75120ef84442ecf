//===- CudaBackend.h - what programs are made of on a GPU -------------------===//
#pragma once
#include "codegen/program/Backend.h"
#include <optional>

namespace hybrid::cuda {

/// "own", "cudnn" or "auto".
std::optional<AttentionBy> attentionByName(llvm::StringRef name);
std::optional<TransformsBy> transformsByName(llvm::StringRef name);
std::optional<ProductsBy> productsByName(llvm::StringRef name);

/// Kernels are templates of codegen/kernels/cuda, run by one block a work item.
class CudaBackend final : public Backend {
public:
  /// Everything about the device but its kind.
  explicit CudaBackend(DeviceTraits traits) : Backend(withKind(traits)) {}

  KernelName kernel(llvm::StringRef name, mlir::Type element, const KernelConstants &constants,
                    llvm::ArrayRef<std::string> functions) const override;
  int64_t itemsOfSums() const override { return 512; }
  /// Few rows are summed before a second launch would start.
  bool sumsInParts(int64_t rows) const override { return rows > 1024; }
  std::string storeFunctor(const View &place) const override;

private:
  static DeviceTraits withKind(DeviceTraits traits) {
    traits.kind = Device::Cuda;
    return traits;
  }
};

} // namespace hybrid::cuda
