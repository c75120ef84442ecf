//===- RmsNorm.cpp - root-mean-square normalisation -----------------------===//
#include "dialect/Gradients.h"
#include "dialect/NormRules.h"

using namespace mlir;
using namespace hybrid;

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferNorm(location, adaptor.getX(), 0, types);
}

LogicalResult RmsNormOp::verify() {
  if (failed(verifyEpsilon(*this))) // C2
    return failure();
  return verifyPerChannel(*this, "weight", getWeight(), getX()); // C1
}

LogicalResult RmsNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferNorm(location, adaptor.getX(), 1, types);
}

LogicalResult RmsNormGradOp::verify() { return verifyNormGradient(*this); }

LogicalResult RmsNormOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  auto gradient = RmsNormGradOp::create(builder, getLoc(), getX(), getWeight(), cotangents[0],
                                        getEpsilonAttr(), getEpsilonOutsideAttr());
  gradients.push_back(gradient.getDx());
  if (getWeight())
    gradients.push_back(gradient.getDweight());
  return success();
}

bool RmsNormGradOp::isRowOperand(unsigned index) { return getOperand(index) != getWeight(); }
bool RmsNormGradOp::isRowResult(unsigned index) { return index == 0; }

int64_t RmsNormOp::getFlops() { return 4 * elementCount(getX()); }
StringRef RmsNormOp::getFlopsFormula() { return "4·B·L·D"; }
int64_t RmsNormGradOp::getFlops() { return 10 * elementCount(getX()); }
StringRef RmsNormGradOp::getFlopsFormula() { return "10·B·L·D"; }
