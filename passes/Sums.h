//===- Sums.h - terms of sums ------------------------------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace hybrid {

/// The addition that a value is the result of, of values of its own type; null if it is none.
BinaryOp sumOf(mlir::Value value);

/// Whether a sum is nothing but a term of another.
bool isTerm(BinaryOp sum);

/// Adds the terms of a sum, looking through sums that are nothing but a term.
void collectTerms(BinaryOp sum, llvm::SmallVectorImpl<mlir::Value> &terms);

/// The sums of a function that are no terms, in order.
llvm::SmallVector<BinaryOp> wholeSums(mlir::func::FuncOp function);

/// Erases those of the ops whose results nothing uses, and what only they needed.
void eraseDead(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace hybrid
