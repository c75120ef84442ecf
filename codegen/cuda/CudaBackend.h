//===- CudaBackend.h - what programs are made of on a GPU -------------------===//
#pragma once
#include "codegen/program/Backend.h"
#include <optional>

namespace hybrid::cuda {

/// Who computes attention whose operands may be rounded: our kernels; the library wherever it can;
/// the library where it is expected to be faster.
enum class AttentionBy { Own, Cudnn, Auto };
std::optional<AttentionBy> attentionByName(llvm::StringRef name);

/// Kernels are templates of codegen/cuda/kernels, run by one block a work item; generated ones are
/// texts of CUDA C++.
class CudaBackend final : public Backend {
public:
  /// `sharedBytes`: what a block may have of shared memory on every device asked for. `rounds`:
  /// whether kernels with matrix units inside may round their operands to bf16. `widestHead`: up
  /// to which the attention library computes attention on all of those devices.
  CudaBackend(int64_t sharedBytes, bool rounds, AttentionBy attention, int64_t widestHead)
      : sharedBytes(sharedBytes), rounds(rounds), attention(attention), widestHead(widestHead) {}

  mlir::LogicalResult lower(mlir::Operation *op, ProgramBuilder &program) const override;
  KernelName kernel(llvm::StringRef name, mlir::Type element,
                    const KernelConstants &constants) const override;
  LaunchShape shape(llvm::StringRef name, mlir::Type element, const KernelConstants &constants,
                    int64_t cpuScratchBytes) const override;
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

  const int64_t sharedBytes;
  const bool rounds;
  const AttentionBy attention;
  const int64_t widestHead;
};

/// The backend of a program that is lowered for CUDA.
const CudaBackend &backendOf(const ProgramBuilder &program);

} // namespace hybrid::cuda
