//===- Training.cpp - gradients of losses -----------------------------------===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

// d logits = dloss · w/Σw · (softmax - target).
LogicalResult CrossEntropyOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                       SmallVectorImpl<Value> &gradients) {
  if (cotangents[1] || cotangents[2])
    return emitOpError() << "is differentiable in its loss only";
  gradients.push_back(CrossEntropyGradOp::create(builder, getLoc(), getLogits(), getTargets(),
                                                 getWeights(), getTotalWeight(), cotangents[0],
                                                 getIgnoreIndexAttr(), getLabelSmoothingAttr()));
  gradients.append(getNumOperands() - 1, Value());
  return success();
}
