//===- LoopEmitter.h - generated kernels as loops ---------------------------===//
//
// Kernels that are made, not written: fused elementwise regions, reductions, copies. Each is a
// function
//   @name(%lo: index, %hi: index, %buffer...: memref<?xT>)
// of scf, memref, arith and math over a grid of rows, which LLVM vectorises along the innermost
// dimension.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/program/KernelEmitter.h"

namespace hybrid::cpu {

/// Loads have no body, and there are no stores to fuse.
class LoopEmitter final : public KernelEmitter {
public:
  GeneratedKernel elementwise(GeneratedKernels &kernels, mlir::Block *body,
                              llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results,
                              bool byRows, std::optional<size_t> ifFinite) const override;
  GeneratedKernel fill(GeneratedKernels &kernels, const View &to, double value) const override;
  GeneratedKernel reduction(GeneratedKernels &kernels, ReduceKind kind, const Load &load,
                            llvm::ArrayRef<int64_t> axes, const View &to) const override;
  GeneratedKernel rowSums(GeneratedKernels &kernels, const Load &load, int64_t rowsPerItem,
                          const View &partial, double scale) const override;
  GeneratedKernel recurrence(GeneratedKernels &kernels, RecurrenceStepOp step) const override;
  std::string store(GeneratedKernels &kernels, mlir::Block *body, llvm::ArrayRef<View> operands,
                    llvm::ArrayRef<View> results) const override;
  /// Of vectors of 64 bytes, as the kernels' own are.
  void function(GeneratedKernels &kernels, llvm::StringRef name, mlir::Block *body) const override;
};

} // namespace hybrid::cpu
