//===- LowerToLLVM.h - generated kernels to LLVM IR -------------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <memory>

namespace hybrid::cpu {

/// Lowers the generated kernels (functions of scf, memref, arith, math) of `module` and translates
/// them. Each becomes `void @name(i64 lo, i64 hi, ptr...)`. `hasBf16`: the CPU rounds to bf16 by an
/// instruction. Null after a diagnostic.
std::unique_ptr<llvm::Module> lowerGeneratedKernels(mlir::ModuleOp module, bool hasBf16,
                                                    llvm::LLVMContext &context);

} // namespace hybrid::cpu
