//===- Unary.cpp - elementwise function of one tensor ---------------------===//
#include "dialect/FormulaTensor.h"

using namespace mlir;
using namespace hybrid;

LogicalResult UnaryOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

OpFoldResult UnaryOp::fold(FoldAdaptor) {
  // neg(neg(x)) -> x
  if (getKind() == UnaryKind::Neg)
    if (auto inner = getX().getDefiningOp<UnaryOp>(); inner && inner.getKind() == UnaryKind::Neg)
      return inner.getX();
  return {};
}

LogicalResult UnaryOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                SmallVectorImpl<Value> &gradients) {
  ExpressionBuilder e{builder, getLoc()};
  auto slope =
      scalar::derivativeOf(getKind(), FormulaTensor(e, getX()), FormulaTensor(e, getResult()));
  gradients.push_back(slope ? e.mul(cotangents[0], slope->value) : Value());
  return success();
}

int64_t UnaryOp::getFlops() { return elementCount(getResult()); }
StringRef UnaryOp::getFlopsFormula() { return "elements"; }
