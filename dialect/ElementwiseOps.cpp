//===- ElementwiseOps.cpp - rules of elementwise ops and reductions ---------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

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

LogicalResult BinaryOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto shape = broadcastShapes(shapeOf(adaptor.getLhs()), shapeOf(adaptor.getRhs()));
  if (!shape) // C1
    return emitOptionalError(location, "shapes ", shapeText(shapeOf(adaptor.getLhs())), " and ",
                             shapeText(shapeOf(adaptor.getRhs())), " do not broadcast");
  types.push_back(tensorOf(*shape, elementOf(adaptor.getLhs())));
  return success();
}

LogicalResult BinaryOp::verify() {
  if (elementOf(getLhs()) != elementOf(getRhs()))
    return emitOpError() << "operands have types " << elementOf(getLhs()) << " and " << elementOf(getRhs());
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
  bool foldable = getKind() == BinaryKind::Add || getKind() == BinaryKind::Sub || getKind() == BinaryKind::Mul ||
                  getKind() == BinaryKind::Div;
  if (foldable && rhs && *rhs == neutral && getLhs().getType() == getType())
    return getLhs();
  if ((getKind() == BinaryKind::Add || getKind() == BinaryKind::Mul) && lhs && *lhs == neutral &&
      getRhs().getType() == getType())
    return getRhs();
  return {};
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  SmallVector<bool> reduced(x.size(), false);
  int64_t previous = -1;
  for (int64_t axis : adaptor.getAxes()) {
    if (axis <= previous || axis >= static_cast<int64_t>(x.size())) // C1
      return emitOptionalError(location, "reduce: axis ", axis, " of ", shapeText(x),
                               ": axes must be ascending and within the rank");
    reduced[previous = axis] = true;
  }
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!reduced[i])
      shape.push_back(x[i]);
    else if (adaptor.getKeep())
      shape.push_back(1);
  }
  types.push_back(tensorOf(shape, elementOf(adaptor.getX())));
  return success();
}

LogicalResult ReduceOp::verify() { return success(); }

LogicalResult FusedOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getOperandTypes())
    return emitOpError() << "body arguments must have the operands' types";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError() << "must yield values of its result types";
  return success();
}
