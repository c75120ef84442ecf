//===- LayerNorm.cpp - mean and variance normalisation --------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/NormRules.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(LayerNormOp) { return inferNorm(location, adaptor.getX(), 0, types); }

LogicalResult LayerNormOp::verify() {
  if (failed(verifyEpsilon(*this)) ||                                 // C2
      failed(verifyPerChannel(*this, "weight", getWeight(), getX()))) // C1
    return failure();
  return verifyPerChannel(*this, "bias", getBias(), getX()); // C1
}

HYBRID_INFER(LayerNormGradOp) { return inferNorm(location, adaptor.getX(), 2, types); }

LogicalResult LayerNormGradOp::verify() { return verifyNormGradient(*this); }

HYBRID_VJP(LayerNormOp) {
  auto gradient = LayerNormGradOp::create(builder, getLoc(), getX(), getWeight(), cotangents[0],
                                          getEpsilonAttr());
  return giveNormGradients(*this, gradient, gradients);
}

bool LayerNormGradOp::isRowOperand(unsigned index) { return getOperand(index) != getWeight(); }
bool LayerNormGradOp::isRowResult(unsigned index) { return index == 0; }

HYBRID_FLOPS(LayerNormOp, 7 * elementCount(getX()), "7·B·L·D")
HYBRID_FLOPS(LayerNormGradOp, 14 * elementCount(getX()), "14·B·L·D")
