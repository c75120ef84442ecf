//===- Broadcast.cpp - a tensor repeated to a larger shape ----------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(BroadcastOp) {
  return give(types, {tensorOf(sizesOf(adaptor.getShape()), elementOf(adaptor.getX()))});
}

LogicalResult BroadcastOp::verify() {
  auto shape = broadcastShapes(shapeOf(getX()), shapeOf(getResult()));
  bool fits = shape && shape->size() == shapeOf(getResult()).size();
  for (size_t i = 0; fits && i < shape->size(); ++i)
    fits = compatible((*shape)[i], shapeOf(getResult())[i]);
  if (!fits) // C1
    return emitOpError() << shapeText(shapeOf(getX())) << " cannot be repeated to "
                         << shapeText(shapeOf(getResult()))
                         << ": sizes must be equal or 1, counted from the last";
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  return getX().getType() == type && type.hasStaticShape() ? OpFoldResult(getX()) : OpFoldResult();
}

HYBRID_VJP(BroadcastOp) {
  return give(gradients,
              {ExpressionBuilder{builder, getLoc()}.unbroadcast(cotangents[0], shapeOf(getX()))});
}
