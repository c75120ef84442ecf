//===- Binary.cpp - elementwise function of two tensors -------------------===//
#include "dialect/Definitions.h"
#include "dialect/FormulaTensor.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(BinaryOp) {
  auto shape = broadcastShapes(shapeOf(adaptor.getLhs()), shapeOf(adaptor.getRhs()));
  if (!shape) // C1
    return emitOptionalError(location, "the shapes ", shapeText(shapeOf(adaptor.getLhs())), " and ",
                             shapeText(shapeOf(adaptor.getRhs())), " do not fit together");
  return give(types, {tensorOf(*shape, elementOf(adaptor.getLhs()))});
}

OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  auto scalar = [](Attribute attribute) -> std::optional<double> {
    if (auto value = dyn_cast_or_null<FloatAttr>(attribute))
      return value.getValueAsDouble();
    return std::nullopt;
  };
  std::optional<double> lhs = scalar(adaptor.getLhs()), rhs = scalar(adaptor.getRhs());
  // x * 1, x / 1, x + 0, x - 0 -> x; 1 * x, 0 + x -> x
  double neutral = getKind() == BinaryKind::Mul || getKind() == BinaryKind::Div ? 1 : 0;
  bool foldable = getKind() == BinaryKind::Add || getKind() == BinaryKind::Sub ||
                  getKind() == BinaryKind::Mul || getKind() == BinaryKind::Div;
  if (foldable && rhs && *rhs == neutral && getLhs().getType() == getType())
    return getLhs();
  if ((getKind() == BinaryKind::Add || getKind() == BinaryKind::Mul) && lhs && *lhs == neutral &&
      getRhs().getType() == getType())
    return getRhs();
  return {};
}

HYBRID_VJP(BinaryOp) {
  ExpressionBuilder e{builder, getLoc()};
  auto both = scalar::gradientsOf(getKind(), FormulaTensor(e, getLhs()), FormulaTensor(e, getRhs()),
                                  FormulaTensor(e, cotangents[0]));
  return give(gradients, {both ? e.unbroadcast(both->first.value, shapeOf(getLhs())) : Value(),
                          both ? e.unbroadcast(both->second.value, shapeOf(getRhs())) : Value()});
}

HYBRID_FLOPS(BinaryOp, elementCount(getResult()), "elements")
