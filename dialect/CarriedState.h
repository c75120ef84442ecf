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

/// On the read of a state [batch, positions, width] that is a ring: the row of position p is p mod
/// positions, and rows of positions that there have not been hold nothing. Its value is the name of
/// the state [batch] that counts the positions so far. What is assigned to a ring are the rows of
/// new positions, which are written in their places.
inline constexpr llvm::StringLiteral ringAttribute = "hybrid.ring";

/// On a module: states are values that programs take and give as a whole, so that there are no
/// rings. For formats that know no writes in place.
inline constexpr llvm::StringLiteral wholeStatesAttribute = "hybrid.whole_states";

/// The name of the count of a ring; null for all other values.
mlir::StringAttr countOfRing(mlir::Value value);

/// Makes a state that `stateOfType` has given a ring, with `count` another.
void makeRing(mlir::Value state, mlir::Value count);

/// start, start + 1, ...: [length].
mlir::Value countFrom(ExpressionBuilder &e, double start, int64_t length, mlir::Type element);

} // namespace hybrid
