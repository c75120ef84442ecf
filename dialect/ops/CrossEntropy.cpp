//===- CrossEntropy.cpp - mean cross entropy over the scored positions ----===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(CrossEntropyOp) {
  types.append(3, tensorOf({}, elementOf(adaptor.getLogits())));
  return success();
}

/// What the loss and its gradient ask in common.
template <typename Op> static LogicalResult verifyLoss(Op op) {
  ArrayRef<int64_t> logits = shapeOf(op.getLogits()), targets = shapeOf(op.getTargets());
  if (logits.empty()) // C1
    return op.emitOpError() << "logits are a scalar, expected [..., classes]";
  if (!compatibleShapes(logits.drop_back(), targets)) // C1
    return op.emitOpError() << "targets are " << shapeText(targets) << ", but logits are "
                            << shapeText(logits) << ": expected " << shapeText(logits.drop_back());
  if (op.getWeights() && !compatibleShapes(shapeOf(op.getWeights()), targets)) // C2
    return op.emitOpError() << "weights are " << shapeText(shapeOf(op.getWeights()))
                            << ", but targets are " << shapeText(targets);
  double smoothing = op.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing < 1)) // C3
    return op.emitOpError() << "label_smoothing = " << numberText(op.getLabelSmoothing())
                            << ", expected a number from 0 to below 1";
  return success();
}
LogicalResult CrossEntropyOp::verify() {
  auto ignored = static_cast<int64_t>(getIgnoreIndex());
  if (ignored < INT32_MIN || ignored > INT32_MAX) // C4
    return emitOpError() << "ignore_index = " << ignored << ", expected a 32-bit integer";
  return verifyLoss(*this);
}

HYBRID_INFER(CrossEntropyGradOp) { return give(types, {adaptor.getLogits().getType()}); }

LogicalResult CrossEntropyGradOp::verify() {
  for (auto [name, value] :
       {std::pair("total_weight", getTotalWeight()), std::pair("cotangent", getCotangent())})
    if (!shapeOf(value).empty()) // C4
      return emitOpError() << name << " is " << shapeText(shapeOf(value)) << ", expected a scalar";
  return verifyLoss(*this);
}

// d logits = dloss · w/Σw · (softmax - target).
HYBRID_VJP(CrossEntropyOp) {
  if (cotangents[1] || cotangents[2])
    return emitOpError() << "is differentiable in its loss only";
  // Not this op's own total: that is known only when all rows are done, and each row could go on to
  // its gradient at once.
  Value weight = TargetWeightOp::create(builder, getLoc(), getTotalWeight().getType(), getTargets(),
                                        getWeights(), getIgnoreIndexAttr());
  gradients.push_back(CrossEntropyGradOp::create(builder, getLoc(), getLogits(), getTargets(),
                                                 getWeights(), weight, cotangents[0],
                                                 getIgnoreIndexAttr(), getLabelSmoothingAttr()));
  gradients.append(getNumOperands() - 1, Value());
  return success();
}

IdsAttr CrossEntropyOp::getIdRange(unsigned index) {
  return getOperand(index) == getTargets() ? IdsAttr::get(getContext(), lastSize(getLogits()),
                                                          static_cast<int64_t>(getIgnoreIndex()))
                                           : IdsAttr();
}

bool CrossEntropyOp::isRowOperand(unsigned) { return true; }
bool CrossEntropyOp::isRowResult(unsigned) { return false; }

bool CrossEntropyGradOp::isRowOperand(unsigned index) {
  return getOperand(index) != getTotalWeight() && getOperand(index) != getCotangent();
}

HYBRID_FLOPS(CrossEntropyOp, 4 * elementCount(getLogits()), "4·B·L·V")
HYBRID_FLOPS(CrossEntropyGradOp, 4 * elementCount(getLogits()), "4·B·L·V")
