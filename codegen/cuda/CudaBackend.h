//===- CudaBackend.h - what programs are made of on a GPU -------------------===//
#pragma once
#include "codegen/program/Backend.h"
#include <optional>

namespace hybrid::cuda {

/// "own", "cudnn" or "auto".
std::optional<AttentionBy> attentionByName(llvm::StringRef name);

/// Kernels are templates of codegen/kernels/cuda, run by one block a work item; generated ones are
/// texts of CUDA C++.
class CudaBackend final : public Backend {
public:
  /// Everything about the device but its kind.
  explicit CudaBackend(DeviceTraits traits) : Backend(withKind(traits)) {}

  KernelName kernel(llvm::StringRef name, mlir::Type element,
                    const KernelConstants &constants) const override;
  int64_t itemsOfSums() const override { return 512; }
  /// Few rows are summed before a second launch would start.
  bool sumsInParts(int64_t rows) const override { return rows > 1024; }
  Store store(mlir::Value result, ProgramBuilder &program, bool kept) const override;
  ProductPlace productPlace(mlir::Value result, ProgramBuilder &program) const override;
  void arrange(ProgramBuilder &program, std::vector<Step> &steps) const override;
  GeneratedKernel elementwise(ModuleTables &tables, mlir::Block *body,
                              llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results,
                              bool byRows) const override;
  GeneratedKernel fill(ModuleTables &tables, const View &to, double value) const override;
  bool reducesRegions() const override { return true; }
  GeneratedKernel reduction(ModuleTables &tables, ReduceKind kind, const Load &from,
                            llvm::ArrayRef<int64_t> axes, const View &to) const override;
  GeneratedKernel rowSums(ModuleTables &tables, const Load &from, int64_t rowsPerItem,
                          const View &partial, double scale) const override;

private:
  static DeviceTraits withKind(DeviceTraits traits) {
    traits.kind = Device::Cuda;
    return traits;
  }
};

} // namespace hybrid::cuda
