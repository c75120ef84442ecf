//===- Channel.cpp - gradients of ops that mix channels ---------------------===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

// dx = dy W, dW = Σ dyᵀ x, db = Σ dy.
LogicalResult LinearOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                 SmallVectorImpl<Value> &gradients) {
  ExpressionBuilder e{builder, getLoc()};
  Value dy = cotangents[0];
  gradients.push_back(MatmulOp::create(builder, getLoc(), dy, getWeight(), false, false));
  gradients.push_back(MatmulOp::create(builder, getLoc(), dy, getX(), true, false));
  if (getBias())
    gradients.push_back(e.sumLeading(dy));
  return success();
}

// y = AB: dA = dy Bᵀ, dB = Aᵀ dy.  y = ABᵀ: dA = dy B, dB = dyᵀ A.  y = AᵀB: dA = B dyᵀ, dB = A dy.
LogicalResult MatmulOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                 SmallVectorImpl<Value> &gradients) {
  Value dy = cotangents[0];
  auto product = [&](Value a, Value b, bool transposeA, bool transposeB) -> Value {
    return MatmulOp::create(builder, getLoc(), a, b, transposeA, transposeB);
  };
  if (getTransposeA()) {
    gradients.push_back(product(getB(), dy, false, true));
    gradients.push_back(product(getA(), dy, false, false));
  } else if (getTransposeB()) {
    gradients.push_back(product(dy, getB(), false, false));
    gradients.push_back(product(dy, getA(), true, false));
  } else {
    gradients.push_back(product(dy, getB(), false, true));
    gradients.push_back(product(getA(), dy, true, false));
  }
  return success();
}

LogicalResult RmsNormOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  auto gradient = RmsNormGradOp::create(builder, getLoc(), getX(), getWeight(), cotangents[0],
                                        getEpsilonAttr(), getEpsilonOutsideAttr());
  gradients.push_back(gradient.getDx());
  if (getWeight())
    gradients.push_back(gradient.getDweight());
  return success();
}

LogicalResult LayerNormOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                    SmallVectorImpl<Value> &gradients) {
  auto gradient = LayerNormGradOp::create(builder, getLoc(), getX(), getWeight(), cotangents[0],
                                          getEpsilonAttr());
  gradients.push_back(gradient.getDx());
  if (getWeight())
    gradients.push_back(gradient.getDweight());
  if (getBias())
    gradients.push_back(gradient.getDbias());
  return success();
}

LogicalResult EmbeddingOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                    SmallVectorImpl<Value> &gradients) {
  gradients.push_back(
      EmbeddingGradOp::create(builder, getLoc(), getIds(), cotangents[0], shapeOf(getTable())[0]));
  gradients.push_back(Value());
  return success();
}
