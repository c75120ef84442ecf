//===- SequenceRules.h - what all ops along the sequence ask of operands ----===//
#pragma once
#include "mlir/IR/Operation.h"
#include <optional>

namespace hybrid {

/// Fails with a message unless `x` (called `name`) is [batch, length, channels].
llvm::LogicalResult verifySequence(mlir::Operation *op, llvm::StringRef name, mlir::Value x);
/// Fails with a message unless `segments`, where there are any, has the batch and length of `x`
/// (called `name`).
llvm::LogicalResult verifySegments(mlir::Operation *op, mlir::Value segments, mlir::Value x,
                                   llvm::StringRef name = "x");

/// Fails with a message unless `state` (called `name`), where there is one, has the expected shape,
/// which is called `layout`: "[batch, channels, states]".
llvm::LogicalResult verifyState(mlir::Operation *op, llvm::StringRef name, mlir::Value state,
                                llvm::ArrayRef<int64_t> expected, llvm::StringRef layout);

/// SequenceAxisOp::getSequenceAxis of an op that takes values apart or joins them along dimension
/// `axis`, or along none (-1), and changes nothing else.
llvm::FailureOr<int64_t> alongSequenceAxis(llvm::ArrayRef<std::optional<int64_t>> operandAxes,
                                           int64_t axis, llvm::StringRef &why);

} // namespace hybrid
