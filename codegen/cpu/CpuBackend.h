//===- CpuBackend.h - what programs are made of on the CPU ------------------===//
#pragma once
#include "codegen/program/Backend.h"

namespace hybrid::cpu {

/// Kernels are bitcode functions over a range of work items, generated ones functions of loops.
class CpuBackend final : public Backend {
public:
  CpuBackend() : Backend({}) {}

  KernelName kernel(llvm::StringRef name, mlir::Type element,
                    const KernelConstants &constants) const override;
  int64_t itemsOfSums() const override { return 64; }
  bool sumsInParts(int64_t) const override { return true; }
  Store store(mlir::Value result, ProgramBuilder &program, bool kept) const override;
  ProductPlace productPlace(mlir::Value result, ProgramBuilder &program) const override;
  GeneratedKernel elementwise(ModuleTables &tables, mlir::Block *body,
                              llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results,
                              bool byRows) const override;
  GeneratedKernel fill(ModuleTables &tables, const View &to, double value) const override;
  GeneratedKernel reduction(ModuleTables &tables, ReduceKind kind, const Load &from,
                            llvm::ArrayRef<int64_t> axes, const View &to) const override;
  GeneratedKernel rowSums(ModuleTables &tables, const Load &from, int64_t rowsPerItem,
                          const View &partial, double scale) const override;
};

} // namespace hybrid::cpu
