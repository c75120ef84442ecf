//===- Round.cpp - elementwise rounding to bf16 ---------------------------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

LogicalResult RoundOp::verify() {
  if (!compatibleShapes(shapeOf(getX()), shapeOf(getResult()))) // C1
    return emitOpError() << "x is " << shapeText(shapeOf(getX())) << ", but the result is "
                         << shapeText(shapeOf(getResult()));
  return success();
}

HYBRID_FLOPS(RoundOp, elementCount(getResult()), "elements")
