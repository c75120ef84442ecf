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
#include "codegen/program/ProgramBuilder.h"

namespace hybrid::cpu {

/// result_i[index] = body(operand...[index]) over the iteration shape; operand and result views
/// have that shape (strides 0 where broadcast). `body` is a block of FusableElementwise ops,
/// constants and a yield, or null for a copy of the operand. With `byRows` a work item is a row
/// (all dimensions but the last count rows), otherwise whatever is fastest.
GeneratedKernel emitElementwise(ModuleTables &tables, mlir::Block *body,
                                llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results,
                                bool byRows = false);

/// Every element of `to` = value.
GeneratedKernel emitFill(ModuleTables &tables, const View &to, double value);

/// Sum, mean or maximum of `from` over `axes` into `to` (shape of the kept dimensions).
GeneratedKernel emitReduction(ModuleTables &tables, ReduceKind kind, const View &from,
                              llvm::ArrayRef<int64_t> axes, const View &to);

/// partial[i, :] = Σ of rows [i*rowsPerItem, ...) of `from` (a matrix); grid = number of rows of
/// `partial`.
GeneratedKernel emitRowSums(ModuleTables &tables, const View &from, int64_t rowsPerItem,
                            const View &partial, double scale);

} // namespace hybrid::cpu
