//===- RmsNorm.cpp - root-mean-square normalisation -----------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/NormRules.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(RmsNormOp) { return inferNorm(location, adaptor.getX(), 0, types); }

LogicalResult RmsNormOp::verify() {
  if (failed(verifyEpsilon(*this))) // C2
    return failure();
  return verifyPerChannel(*this, "weight", getWeight(), getX()); // C1
}

HYBRID_INFER(RmsNormGradOp) { return inferNorm(location, adaptor.getX(), 1, types); }

LogicalResult RmsNormGradOp::verify() { return verifyNormGradient(*this); }

HYBRID_VJP(RmsNormOp) {
  auto gradient = RmsNormGradOp::create(builder, getLoc(), getX(), getWeight(), cotangents[0],
                                        getEpsilonAttr(), getEpsilonOutsideAttr());
  return giveNormGradients(*this, gradient, gradients);
}

bool RmsNormGradOp::isRowOperand(unsigned index) { return getOperand(index) != getWeight(); }
bool RmsNormGradOp::isRowResult(unsigned index) { return index == 0; }

HYBRID_FLOPS(RmsNormOp, 4 * elementCount(getX()), "4·B·L·D")
HYBRID_FLOPS(RmsNormGradOp, 10 * elementCount(getX()), "10·B·L·D")
