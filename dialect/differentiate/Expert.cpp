//===- Expert.cpp - gradients of ops that route tokens to experts -----------===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult TakeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &gradients) {
  gradients.push_back(
      ScatterOp::create(builder, getLoc(), cotangents[0], getIndices(), lastSize(getX())));
  gradients.push_back(Value());
  return success();
}

LogicalResult ScatterOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  gradients.push_back(TakeOp::create(builder, getLoc(), cotangents[0], getIndices()));
  gradients.push_back(Value());
  return success();
}

LogicalResult DispatchOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                   SmallVectorImpl<Value> &gradients) {
  gradients.push_back(CollectOp::create(builder, getLoc(), cotangents[0], getSlots()));
  gradients.push_back(Value());
  return success();
}

LogicalResult CollectOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  gradients.push_back(DispatchOp::create(builder, getLoc(), cotangents[0], getSlots()));
  gradients.push_back(Value());
  return success();
}

// dx[r] = dy[r] W_e, dW_e = Σ dy[r]ᵀ x[r]; with transposed weights the two sides change places.
LogicalResult GroupedLinearOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                        SmallVectorImpl<Value> &gradients) {
  Value dy = cotangents[0], x = getX();
  gradients.push_back(
      GroupedLinearOp::create(builder, getLoc(), dy, getWeight(), getOffsets(), !getTransposed()));
  gradients.push_back(getTransposed()
                          ? GroupedLinearGradOp::create(builder, getLoc(), dy, x, getOffsets())
                          : GroupedLinearGradOp::create(builder, getLoc(), x, dy, getOffsets()));
  gradients.push_back(Value());
  return success();
}
