//===- StraightLine.h - the form of function that graph passes work on ------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

namespace hybrid {

/// Fails with a message unless `function` is one block of ops on ranked tensors of numbers that
/// ends in a return. Frontends make nothing else; a file written by hand may hold anything.
llvm::LogicalResult verifyStraightLine(mlir::func::FuncOp function);

/// The ops of a function's block that `value` is computed with, its own included, in their order:
/// none for an argument. They may be as many as the function has.
llvm::SmallVector<mlir::Operation *> sliceOf(mlir::Value value);

} // namespace hybrid
