//===- Unary.cpp - elementwise function of one tensor ---------------------===//
#include "dialect/Definitions.h"
#include "dialect/FormulaTensor.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(UnaryOp) { return give(types, {adaptor.getX().getType()}); }

OpFoldResult UnaryOp::fold(FoldAdaptor) {
  // neg(neg(x)) -> x
  if (getKind() == UnaryKind::Neg)
    if (auto inner = getX().getDefiningOp<UnaryOp>(); inner && inner.getKind() == UnaryKind::Neg)
      return inner.getX();
  return {};
}

HYBRID_VJP(UnaryOp) {
  ExpressionBuilder e{builder, getLoc()};
  auto slope =
      scalar::derivativeOf(getKind(), FormulaTensor(e, getX()), FormulaTensor(e, getResult()));
  return give(gradients, {slope ? e.mul(cotangents[0], slope->value) : Value()});
}

HYBRID_FLOPS(UnaryOp, elementCount(getResult()), "elements")
