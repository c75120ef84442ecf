//===- Sequence.cpp - gradients of ops that mix along the sequence ----------===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult ShortConvOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                    SmallVectorImpl<Value> &gradients) {
  Value dy = cotangents[0];
  if (!dy)
    dy = ConstantOp::create(builder, getLoc(), getResult().getType(), builder.getF64FloatAttr(0));
  auto gradient = ShortConvGradOp::create(builder, getLoc(), getX(), getWeight(), getSegments(),
                                          getInitialState(), dy,
                                          cotangents.size() > 1 ? cotangents[1] : Value());
  gradients.push_back(gradient.getDx());
  gradients.push_back(gradient.getDweight());
  if (getBias())
    gradients.push_back(gradient.getDbias());
  if (getSegments())
    gradients.push_back(Value());
  if (getInitialState())
    gradients.push_back(gradient.getDinitialState());
  return success();
}

LogicalResult FFTConvOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  if (getInitialState() || getReturnState())
    return emitOpError() << "with a state must be canonicalised before it is differentiated";
  auto gradient = FFTConvGradOp::create(builder, getLoc(), getX(), getFilter(), getSkip(),
                                        getGateIn(), getGateOut(), getSegments(), cotangents[0]);
  llvm::append_range(gradients, gradient.getGradients());
  if (getSegments())
    gradients.push_back(Value());
  return success();
}

LogicalResult AttentionOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                    SmallVectorImpl<Value> &gradients) {
  if (getPastK())
    return emitOpError() << "with past keys must be canonicalised before it is differentiated";
  if (cotangents[1])
    return emitOpError() << "has no gradient through its softmax denominators";
  auto gradient = AttentionGradOp::create(
      builder, getLoc(), getQ(), getK(), getV(), getSegments(), getResult(), getLse(),
      cotangents[0], getHeads(), getKvHeads(), getCausal(), getWindow(), getRotaryDims(),
      getRotaryBase(), getRotaryInterleaved(), getXposBase(), llvm::APFloat(getSoftmaxScale()));
  llvm::append_range(gradients, gradient.getResults());
  if (getSegments())
    gradients.push_back(Value());
  return success();
}
