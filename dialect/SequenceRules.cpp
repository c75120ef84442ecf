//===- SequenceRules.cpp - what all ops along the sequence ask of operands --===//
#include "dialect/SequenceRules.h"
#include "dialect/Shapes.h"
#include "mlir/IR/Value.h"

using namespace mlir;
using namespace hybrid;

LogicalResult hybrid::verifySequence(Operation *op, StringRef name, Value x) {
  if (shapeOf(x).size() != 3)
    return op->emitOpError() << name << " must be [batch, length, channels], but is "
                             << shapeText(shapeOf(x));
  return success();
}

LogicalResult hybrid::verifySegments(Operation *op, Value segments, Value x) {
  if (!segments)
    return success();
  ArrayRef<int64_t> ids = shapeOf(segments), shape = shapeOf(x);
  if (ids.size() != 2 || !compatible(ids[0], shape[0]) || !compatible(ids[1], shape[1]))
    return op->emitOpError() << "segments is " << shapeText(ids) << ", but x is "
                             << shapeText(shape) << ": expected its batch and length";
  return success();
}
