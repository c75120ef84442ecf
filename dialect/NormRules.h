//===- NormRules.h - what all norms and their gradients have in common ------===//
#pragma once
#include "dialect/Shapes.h"

namespace hybrid {

/// Result types of a norm of x, or of its gradient, which has also `sums` over positions, one value
/// a channel.
inline llvm::LogicalResult inferNorm(std::optional<mlir::Location> location, mlir::Value x,
                                     unsigned sums, llvm::SmallVectorImpl<mlir::Type> &types) {
  if (shapeOf(x).empty())
    return mlir::emitOptionalError(location, "a norm needs at least one dimension");
  types.push_back(x.getType());
  types.append(sums, tensorOf({lastSize(x)}, elementOf(x)));
  return mlir::success();
}

/// C2: epsilon is not negative.
template <typename Op> llvm::LogicalResult verifyEpsilon(Op op) {
  if (!(op.getEpsilon().convertToDouble() >= 0))
    return op.emitOpError() << "epsilon = " << numberText(op.getEpsilon())
                            << ", expected at least 0";
  return mlir::success();
}

/// The rules C1 and C2 of a norm's gradient.
template <typename Op> llvm::LogicalResult verifyNormGradient(Op op) {
  if (failed(verifyPerChannel(op, "weight", op.getWeight(), op.getX()))) // C1
    return mlir::failure();
  return verifyCotangent(op, "cotangent", op.getCotangent(), "x", op.getX()); // C2
}

/// Appends what `gradient` computes for the operands of `op`: x, and the weight and bias that are
/// there.
template <typename Op, typename Gradient>
llvm::LogicalResult giveNormGradients(Op op, Gradient gradient,
                                      llvm::SmallVectorImpl<mlir::Value> &gradients) {
  gradients.push_back(gradient.getDx());
  if (op.getWeight())
    gradients.push_back(gradient.getDweight());
  if constexpr (requires { op.getBias(); })
    if (op.getBias())
      gradients.push_back(gradient.getDbias());
  return mlir::success();
}

} // namespace hybrid
