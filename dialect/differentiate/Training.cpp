//===- Training.cpp - gradients of losses -----------------------------------===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

// d logits = dloss · w/Σw · (softmax - target).
LogicalResult CrossEntropyOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                       SmallVectorImpl<Value> &gradients) {
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
