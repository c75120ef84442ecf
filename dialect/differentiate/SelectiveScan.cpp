//===- SelectiveScan.cpp - gradient of the selective scan -------------------===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult SelectiveScanOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                        SmallVectorImpl<Value> &gradients) {
  Value dy = cotangents[0];
  if (!dy) // only the final state is used
    dy = ConstantOp::create(builder, getLoc(), getResult().getType(), builder.getF64FloatAttr(0));
  auto gradient = SelectiveScanGradOp::create(
      builder, getLoc(), getX(), getDt(), getA(), getB(), getC(), getSegments(), getInitialState(),
      getDtBias(), getSkip(), getGate(), dy, cotangents.size() > 1 ? cotangents[1] : Value(),
      getDtSoftplus());
  gradients.append(
      {gradient.getDx(), gradient.getDdt(), gradient.getDa(), gradient.getDb(), gradient.getDc()});
  if (getSegments())
    gradients.push_back(Value());
  llvm::append_range(gradients, gradient.getOptionalGradients()); // in the order of the operands
  return success();
}
