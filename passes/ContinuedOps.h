//===- ContinuedOps.h - an op that goes on where one before has ended -------===//
#pragma once
#include "dialect/CarriedState.h"

namespace hybrid {

/// Replaces an op along the sequence by one that starts from states instead of zeros: `stateOfType`
/// gives each, for its type; what the op ends in is appended to `finalStates`. `context` is that of
/// CarriedOp. What cannot go on is told `refuse`.
llvm::LogicalResult
continueFromStates(mlir::Operation *op, int64_t context, StateOfType stateOfType,
                   llvm::SmallVectorImpl<mlir::Value> &finalStates,
                   llvm::function_ref<llvm::LogicalResult(const llvm::Twine &why)> refuse);

/// Why an op cannot go on from states whose size does not depend on the length, for people; empty
/// when it can.
llvm::StringRef obstacleToStates(mlir::Operation *op);

} // namespace hybrid
