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
bool ShortConvOp::isShortBuffer() { return true; }
Value ShortConvOp::getStateOperand() { return getInitialState(); }
Value ShortConvOp::getStateResult() { return getFinalState(); }

// A free-form filter needs its whole input history.
int64_t FFTConvOp::getFixedStateElements() { return 0; }
int64_t FFTConvOp::getDynamicStateElements() { return shapeOf(getX())[1] * lastSize(getX()); }
Value FFTConvOp::getStateOperand() { return getInitialState(); }
Value FFTConvOp::getStateResult() { return getFinalState(); }

// Keys and values; a window bounds them. The accessor of the attribute is unsigned.
static int64_t cachedElements(AttentionOp op, bool bounded) {
  auto window = static_cast<int64_t>(op.getWindow());
  if (bounded != (window >= 0))
    return 0;
  int64_t keys = shapeOf(op.getK())[1];
  return 2 * (bounded ? std::min(keys, window + 1) : keys) * lastSize(op.getK());
}
int64_t AttentionOp::getFixedStateElements() { return cachedElements(*this, true); }
int64_t AttentionOp::getDynamicStateElements() { return cachedElements(*this, false); }
Value AttentionOp::getStateOperand() { return getPastK(); }
Value AttentionOp::getStateResult() { return nullptr; }
