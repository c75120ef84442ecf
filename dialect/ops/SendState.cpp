//===- SendState.cpp - a state for the next part of a sequence ------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult SendStateOp::verify() {
  if (getRanks() < 2) // C1
    return emitOpError() << "is of " << getRanks() << " ranks, expected at least 2";
  return success();
}

LogicalResult ReceiveStateOp::verify() {
  if (getRanks() < 2) // C1
    return emitOpError() << "is of " << getRanks() << " ranks, expected at least 2";
  return success();
}

// All ranks run one program, so each send needs its receive and each receive its send, whether or
// not anything depends on what is sent.
HYBRID_VJP(SendStateOp) {
  return give(gradients, {ReceiveStateOp::create(builder, getLoc(), getState().getType(),
                                                 getNeighbour(), getRanks())});
}

HYBRID_VJP(ReceiveStateOp) {
  SendStateOp::create(builder, getLoc(), orZeros(builder, cotangents[0], getState()),
                      getNeighbour(), getRanks());
  return success();
}
