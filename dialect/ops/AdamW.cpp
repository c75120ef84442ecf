//===- AdamW.cpp - one AdamW step over all parameters ---------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult AdamWOp::verify() {
  if (shapeOf(getHyper()) != ArrayRef<int64_t>(8)) // C1
    return emitOpError() << "hyper is " << shapeText(shapeOf(getHyper())) << ", expected [8]";
  if (!shapeOf(getGradientNorm()).empty()) // C2
    return emitOpError() << "gradient_norm is " << shapeText(shapeOf(getGradientNorm()))
                         << ", expected a scalar";
  return success();
}
