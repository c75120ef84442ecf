//===- Binary.cpp - elementwise function of two tensors -------------------===//
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult BinaryOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto shape = broadcastShapes(shapeOf(adaptor.getLhs()), shapeOf(adaptor.getRhs()));
  if (!shape) // C1
    return emitOptionalError(location, "shapes ", shapeText(shapeOf(adaptor.getLhs())), " and ",
                             shapeText(shapeOf(adaptor.getRhs())), " do not broadcast");
  types.push_back(tensorOf(*shape, elementOf(adaptor.getLhs())));
  return success();
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

LogicalResult BinaryOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                 SmallVectorImpl<Value> &gradients) {
  ExpressionBuilder e{builder, getLoc()};
  Value a = getLhs(), b = getRhs(), dy = cotangents[0], da, db;
  switch (getKind()) {
  case BinaryKind::Add:
    da = db = dy;
    break;
  case BinaryKind::Sub:
    da = dy;
    db = e.neg(dy);
    break;
  case BinaryKind::Mul:
    da = e.mul(dy, b);
    db = e.mul(dy, a);
    break;
  case BinaryKind::Div: // da = dy/b, db = -dy a/b²
    da = e.div(dy, b);
    db = e.neg(e.mul(da, e.div(a, b)));
    break;
  case BinaryKind::Max:
  case BinaryKind::Min: { // ties go to the first operand
    Value second = getKind() == BinaryKind::Max ? e.binary(BinaryKind::Less, a, b)
                                                : e.binary(BinaryKind::Less, b, a);
    db = e.mul(dy, second);
    da = e.mul(dy, e.oneMinus(second));
    break;
  }
  case BinaryKind::Atan2: { // da = dy b/(a² + b²), db = -dy a/(a² + b²)
    Value scaled = e.div(dy, e.add(e.mul(a, a), e.mul(b, b)));
    da = e.mul(scaled, b);
    db = e.neg(e.mul(scaled, a));
    break;
  }
  case BinaryKind::Equal:
  case BinaryKind::Less:
    gradients.append({Value(), Value()});
    return success();
  }
  gradients.push_back(e.unbroadcast(da, shapeOf(a)));
  gradients.push_back(e.unbroadcast(db, shapeOf(b)));
  return success();
}

int64_t BinaryOp::getFlops() { return elementCount(getResult()); }
StringRef BinaryOp::getFlopsFormula() { return "elements"; }
