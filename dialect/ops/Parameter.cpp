//===- Parameter.cpp - the trained tensors of a model ---------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult ParameterOp::verify() {
  auto type = getResult().getType();
  if (!cast<RankedTensorType>(type).hasStaticShape()) // C1
    return emitOpError() << "'" << getName() << "' has a free dimension: " << type;
  if (getInitial() && getInitial().getType() != type) // C2
    return emitOpError() << "'" << getName() << "' is " << type << ", but its initial value is "
                         << getInitial().getType();
  return success();
}
