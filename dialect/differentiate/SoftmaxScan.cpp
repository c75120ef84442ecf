//===- SoftmaxScan.cpp - gradient of the softmax scan -----------------------===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult SoftmaxScanOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                      SmallVectorImpl<Value> &gradients) {
  if (cotangents[1])
    return emitOpError() << "has no gradient through its softmax denominators";
  Value dy = cotangents[0], dState = cotangents.size() > 2 ? cotangents[2] : Value();
  if (!dy) // only the final state is used
    dy = ConstantOp::create(builder, getLoc(), getResult().getType(), builder.getF64FloatAttr(0));
  auto gradient = SoftmaxScanGradOp::create(
      builder, getLoc(), getK(), getV(), getTaps(), getDecay(), getSegments(), getInitialState(),
      getResult(), getLse(), dy, dState ? getFinalState() : Value(), dState);
  auto next = gradient.getGradients().begin();
  for (Value operand : getOperands())
    gradients.push_back(operand == getSegments() ? Value() : Value(*next++));
  return success();
}
