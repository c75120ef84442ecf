//===- CarriedState.h - ops that go on from what came in before --------------===//
#pragma once
#include "dialect/Gradients.h"

namespace hybrid {

using StateOfType = llvm::function_ref<mlir::Value(mlir::Type)>;

/// Positions [from, from + count) along dimension `axis`.
mlir::Value cutPositions(ExpressionBuilder &e, mlir::Value x, int64_t axis, int64_t from,
                         int64_t count);

/// The last `positions` of what came before, and x behind them; the last of both are the next
/// state. The newest position is always the last, so that distances are as in the whole sequence.
mlir::Value behindHistory(ExpressionBuilder &e, mlir::Value x, int64_t axis, int64_t positions,
                          StateOfType stateOfType, mlir::SmallVectorImpl<mlir::Value> &finalStates);

/// start, start + 1, ...: [length].
mlir::Value countFrom(ExpressionBuilder &e, double start, int64_t length, mlir::Type element);

} // namespace hybrid
