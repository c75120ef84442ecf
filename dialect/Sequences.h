//===- Sequences.h - checks shared by the ops that mix along the sequence ---===//
#pragma once
#include "mlir/IR/Operation.h"

namespace hybrid {

/// Fails with a message unless `segments` (may be null) holds one id for each batch and position of
/// x.
llvm::LogicalResult verifySegments(mlir::Operation *op, mlir::Value segments, mlir::Value x);
/// Fails with a message unless `x`, called `name`, is [batch, length, channels].
llvm::LogicalResult verifySequence(mlir::Operation *op, llvm::StringRef name, mlir::Value x);

} // namespace hybrid
