//===- TargetWeight.cpp - total weight of the scored positions ------------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

LogicalResult TargetWeightOp::verify() {
  if (getWeights() && !compatibleShapes(shapeOf(getWeights()), shapeOf(getTargets()))) // C1
    return emitOpError() << "weights are " << shapeText(shapeOf(getWeights()))
                         << ", but targets are " << shapeText(shapeOf(getTargets()));
  if (!shapeOf(getResult()).empty()) // C2
    return emitOpError() << "gives " << shapeText(shapeOf(getResult())) << ", expected a scalar";
  return success();
}

HYBRID_FLOPS(TargetWeightOp, elementCount(getTargets()), "B·L")
