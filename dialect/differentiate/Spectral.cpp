//===- Spectral.cpp - gradients of the ops that long filters are made with --===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

static Value zeros(OpBuilder &builder, Location loc, Value like) {
  return ConstantOp::create(builder, loc, like.getType(), builder.getF64FloatAttr(0));
}

LogicalResult RfftOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &gradients) {
  Value re = cotangents[0] ? cotangents[0] : zeros(builder, getLoc(), getRe());
  Value im = cotangents[1] ? cotangents[1] : zeros(builder, getLoc(), getIm());
  gradients.push_back(
      IrfftOp::create(builder, getLoc(), re, im, shapeOf(getX())[0], getWeighted()));
  return success();
}

LogicalResult IrfftOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                SmallVectorImpl<Value> &gradients) {
  auto spectrum = RfftOp::create(builder, getLoc(), cotangents[0], getWeighted());
  llvm::append_range(gradients, spectrum.getResults());
  return success();
}

LogicalResult ModalFilterOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                      SmallVectorImpl<Value> &gradients) {
  auto gradient = ModalFilterGradOp::create(builder, getLoc(), getLogDecay(), getAngle(), getRe(),
                                            getIm(), cotangents[0]);
  llvm::append_range(gradients, gradient.getResults());
  return success();
}
