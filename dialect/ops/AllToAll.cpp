//===- AllToAll.cpp - parts of a sequence for parts of its heads ----------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(AllToAllOp) {
  ArrayRef<int64_t> shape = shapeOf(adaptor.getX());
  if (shape.empty() || shape.front() < 2) // C1
    return emitOptionalError(location, "all_to_all: x is ", shapeText(shape),
                             ", expected a row for each of at least 2 ranks");
  return give(types, {adaptor.getX().getType()});
}

HYBRID_VJP(AllToAllOp) {
  return give(gradients, {AllToAllOp::create(builder, getLoc(), cotangents[0])});
}
