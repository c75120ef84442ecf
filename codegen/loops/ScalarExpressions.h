//===- ScalarExpressions.h - one element of an elementwise op ---------------===//
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hybrid::loops {

/// The value of an elementwise op or scalar constant at one index, in arith and math ops, from its
/// operands' values there; with `lanes` of a vector of so many.
mlir::Value emitScalar(mlir::ImplicitLocOpBuilder &builder, mlir::Operation *op,
                       llvm::ArrayRef<mlir::Value> operands, int64_t lanes = 0);

/// Evaluates the body of a fused op for one element, or for a vector of them.
llvm::SmallVector<mlir::Value> emitBody(mlir::ImplicitLocOpBuilder &builder, mlir::Block *body,
                                        llvm::ArrayRef<mlir::Value> operands);

} // namespace hybrid::loops
