//===- TextEmitter.h - generated CUDA kernels -------------------------------===//
//
// Kernels that are made, not written: fused elementwise regions, copies, fills, reductions. Each is
// a function
//   HYBRID_DEVICE void name(int64_t item, const T *x0, ..., T *y0, ...)
// of CUDA C++ over codegen/kernels/cuda/Prelude.cuh, which one block runs for a work item. A store
// is a struct whose members are pointers to what it reads, then to what it writes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/program/KernelEmitter.h"

namespace hybrid::cuda {

class TextEmitter final : public KernelEmitter {
public:
  GeneratedKernel elementwise(GeneratedKernels &kernels, mlir::Block *body,
                              llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results,
                              bool byRows, std::optional<size_t> ifFinite) const override;
  GeneratedKernel fill(GeneratedKernels &kernels, const View &to, double value) const override;
  GeneratedKernel reduction(GeneratedKernels &kernels, ReduceKind kind, const Load &from,
                            llvm::ArrayRef<int64_t> axes, const View &to) const override;
  GeneratedKernel rowSums(GeneratedKernels &kernels, const Load &from, int64_t rowsPerItem,
                          const View &partial, double scale) const override;
  GeneratedKernel recurrence(GeneratedKernels &kernels, RecurrenceStepOp step) const override;
  std::string store(GeneratedKernels &kernels, mlir::Block *body, llvm::ArrayRef<View> operands,
                    llvm::ArrayRef<View> results) const override;
  void function(GeneratedKernels &kernels, llvm::StringRef name, mlir::Block *body) const override;
};

} // namespace hybrid::cuda
