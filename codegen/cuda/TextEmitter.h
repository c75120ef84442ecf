//===- TextEmitter.h - generated CUDA kernels -------------------------------===//
//
// Kernels that are made, not written: fused elementwise regions, copies, fills, reductions. Each is
// a function
//   HYBRID_DEVICE void name(int64_t item, const T *x0, ..., T *y0, ...)
// of CUDA C++ over codegen/kernels/cuda/Prelude.cuh, which one block runs for a work item; see
// codegen/program/Backend.h for what each computes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/program/ProgramBuilder.h"

namespace hybrid::cuda {

GeneratedKernel emitElementwise(ModuleTables &tables, mlir::Block *body,
                                llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results,
                                bool byRows);
/// A store (codegen/program/Backend.h) that computes a fused region for each element on the way:
/// the argument number `stored` of `body` is the element; `operands` are the others, in order. One
/// place more than `body` has results gets the element itself.
/// Returns the functor's name; its members are pointers to operands, then to results.
std::string emitStore(ModuleTables &tables, mlir::Block *body, size_t stored,
                      llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results);

GeneratedKernel emitFill(ModuleTables &tables, const View &to, double value);
GeneratedKernel emitReduction(ModuleTables &tables, ReduceKind kind, const Load &from,
                              llvm::ArrayRef<int64_t> axes, const View &to);
GeneratedKernel emitRowSums(ModuleTables &tables, const Load &from, int64_t rowsPerItem,
                            const View &partial, double scale);

} // namespace hybrid::cuda
