//===- HeadRules.h - what scans with heads have in common -------------------===//
#pragma once
#include "dialect/SequenceRules.h"
#include "dialect/Shapes.h"

namespace hybrid {

/// Size of one of `parts` equal parts of `channels`, which may still be free.
inline int64_t partOf(int64_t channels, int64_t parts) {
  return mlir::ShapedType::isDynamic(channels) ? channels : channels / parts;
}

/// Whether `channels`, which may still be free, are `parts` equal parts.
inline bool isDivided(int64_t channels, int64_t parts) {
  return mlir::ShapedType::isDynamic(channels) || channels % parts == 0;
}

/// C1: v has the batch and the length of q.
template <typename Op> llvm::LogicalResult verifyValues(Op op) {
  llvm::ArrayRef<int64_t> q = shapeOf(op.getQ()), v = shapeOf(op.getV());
  if (compatible(q[0], v[0]) && compatible(q[1], v[1]))
    return mlir::success();
  return op.emitOpError() << "v is " << shapeText(v) << ", but q is " << shapeText(q)
                          << ": expected its batch and length";
}

/// C3 to C5 of a scan of [key size, value size] for each head, or of its gradient: the decay, for
/// each channel or head, and, where `mayBeConstant`, the same for all tokens; segments; states.
template <typename Op> llvm::LogicalResult verifyDecayAndStates(Op op, bool mayBeConstant) {
  using namespace mlir;
  ArrayRef<int64_t> q = shapeOf(op.getQ());
  const auto heads = static_cast<int64_t>(op.getHeads());
  if (Value decay = op.getDecay()) { // C3
    ArrayRef<int64_t> shape = shapeOf(decay);
    const bool isConstant = mayBeConstant && shape.size() == 1;
    if ((shape.size() != 3 && !isConstant) ||
        (!compatible(shape.back(), q[2]) && !compatible(shape.back(), heads)) ||
        (!isConstant && (!compatible(shape[0], q[0]) || !compatible(shape[1], q[1]))))
      return op.emitOpError() << "decay is " << shapeText(shape) << ", but q is " << shapeText(q)
                              << " with " << heads << " heads: expected [batch, length, channels]"
                              << (mayBeConstant ? ", [batch, length, heads], [channels] or [heads]"
                                                : " or [batch, length, heads]");
  }
  if (failed(verifySegments(op, op.getSegments(), op.getQ(), "q"))) // C4
    return failure();
  SmallVector<int64_t> state{q[0], heads, op.getKeySize(), op.getValueSize()};
  constexpr StringRef layout = "[batch, heads, key size, value size]";
  if constexpr (requires { op.getStateCotangent(); })
    if (failed(verifyState(op, "state_cotangent", op.getStateCotangent(), state, layout))) // C5
      return failure();
  return verifyState(op, "initial_state", op.getInitialState(), state, layout); // C5
}

} // namespace hybrid
