//===- State.cpp - state of the ops that mix along the sequence -------------===//
//
// Scalars per sequence, MAD section D.5.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

int64_t ShortConvOp::getFixedStateElements() {
  return (shapeOf(getWeight())[1] - 1) * lastSize(getX());
}
int64_t ShortConvOp::getDynamicStateElements() { return 0; }
Value ShortConvOp::getStateOperand() { return getInitialState(); }
Value ShortConvOp::getStateResult() { return getFinalState(); }

// A free-form filter needs its whole input history.
int64_t FFTConvOp::getFixedStateElements() { return 0; }
int64_t FFTConvOp::getDynamicStateElements() { return shapeOf(getX())[1] * lastSize(getX()); }
Value FFTConvOp::getStateOperand() { return getInitialState(); }
Value FFTConvOp::getStateResult() { return getFinalState(); }

static int64_t cachedPositions(AttentionOp op) {
  int64_t keys = shapeOf(op.getK())[1], window = op.getWindow();
  return window >= 0 ? std::min(keys, window + 1) : keys;
}
// Keys and values; a window bounds them.
int64_t AttentionOp::getFixedStateElements() {
  return getWindow() >= 0 ? 2 * cachedPositions(*this) * lastSize(getK()) : 0;
}
int64_t AttentionOp::getDynamicStateElements() {
  return getWindow() >= 0 ? 0 : 2 * cachedPositions(*this) * lastSize(getK());
}
Value AttentionOp::getStateOperand() { return getPastK(); }
Value AttentionOp::getStateResult() { return nullptr; }
