//===- SequenceRules.h - what all ops along the sequence ask of operands ----===//
#pragma once
#include "mlir/IR/Operation.h"

namespace hybrid {

/// Fails with a message unless `x` (called `name`) is [batch, length, channels].
llvm::LogicalResult verifySequence(mlir::Operation *op, llvm::StringRef name, mlir::Value x);
/// Fails with a message unless `segments`, where there are any, has the batch and length of `x`.
llvm::LogicalResult verifySegments(mlir::Operation *op, mlir::Value segments, mlir::Value x);

} // namespace hybrid
