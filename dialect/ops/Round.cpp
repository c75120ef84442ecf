//===- Round.cpp - elementwise rounding to bf16, and back -----------------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

static LogicalResult verifyOneShape(Operation *op) {
  Value x = op->getOperand(0), result = op->getResult(0);
  if (!compatibleShapes(shapeOf(x), shapeOf(result))) // C1
    return op->emitOpError() << "x is " << shapeText(shapeOf(x)) << ", but the result is "
                             << shapeText(shapeOf(result));
  return success();
}

LogicalResult RoundOp::verify() { return verifyOneShape(*this); }
LogicalResult WidenOp::verify() { return verifyOneShape(*this); }

OpFoldResult RoundOp::fold(FoldAdaptor) {
  auto widened = getX().getDefiningOp<WidenOp>();
  return widened && widened.getX().getType() == getType() ? widened.getX() : Value();
}

HYBRID_FLOPS(RoundOp, elementCount(getResult()), "elements")
HYBRID_FLOPS(WidenOp, 0, "0 (a bf16 number is the upper half of an f32 one)")
