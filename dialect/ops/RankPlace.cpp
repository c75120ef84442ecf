//===- RankPlace.cpp - which part of the sequence this rank has -----------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult RankPlaceOp::verify() {
  if (getRanks() < 2) // C1
    return emitOpError() << "is of " << getRanks() << " ranks, expected at least 2";
  if (shapeOf(getResult()) != ArrayRef<int64_t>{1})
    return emitOpError() << "is " << getResult().getType() << ", expected tensor<1xi32>";
  return success();
}
