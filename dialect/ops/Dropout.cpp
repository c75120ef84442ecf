//===- Dropout.cpp - values left out while training -----------------------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(DropoutOp) {
  const double rate = adaptor.getRate().convertToDouble();
  if (!(rate >= 0 && rate < 1)) // C1
    return emitOptionalError(location, "dropout: rate = ", numberText(adaptor.getRate()),
                             ", expected at least 0 and below 1");
  int64_t previous = -1;
  for (int64_t axis : adaptor.getAxes()) {
    if (axis <= previous || axis >= std::ssize(shapeOf(adaptor.getX()))) // C2
      return emitOptionalError(location, "dropout: axes = ", shapeText(adaptor.getAxes()),
                               ", but x is ", shapeText(shapeOf(adaptor.getX())),
                               ": expected some of its dimensions, ascending");
    previous = axis;
  }
  return give(types, {adaptor.getX().getType()});
}

// Where nothing is left out: it stands in no program that trains.
HYBRID_VJP(DropoutOp) { return give(gradients, {cotangents[0]}); }

HYBRID_FLOPS(DropoutOp, elementCount(getResult()), "elements")
