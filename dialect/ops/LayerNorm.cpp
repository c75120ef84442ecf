//===- LayerNorm.cpp - mean and variance normalisation --------------------===//
#include "dialect/Gradients.h"
#include "dialect/NormRules.h"

using namespace mlir;
using namespace hybrid;

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferNorm(location, adaptor.getX(), 0, types);
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyEpsilon(*this)) ||                                 // C2
      failed(verifyPerChannel(*this, "weight", getWeight(), getX()))) // C1
    return failure();
  return verifyPerChannel(*this, "bias", getBias(), getX()); // C1
}

LogicalResult LayerNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferNorm(location, adaptor.getX(), 2, types);
}

LogicalResult LayerNormGradOp::verify() { return verifyNormGradient(*this); }

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

bool LayerNormGradOp::isRowOperand(unsigned index) { return getOperand(index) != getWeight(); }
bool LayerNormGradOp::isRowResult(unsigned index) { return index == 0; }

int64_t LayerNormOp::getFlops() { return 7 * elementCount(getX()); }
StringRef LayerNormOp::getFlopsFormula() { return "7·B·L·D"; }
int64_t LayerNormGradOp::getFlops() { return 14 * elementCount(getX()); }
StringRef LayerNormGradOp::getFlopsFormula() { return "14·B·L·D"; }
