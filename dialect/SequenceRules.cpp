//===- SequenceRules.cpp - what all ops along the sequence ask of operands --===//
#include "dialect/SequenceRules.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult hybrid::verifySequence(Operation *op, StringRef name, Value x) {
  if (shapeOf(x).size() != 3)
    return op->emitOpError() << name << " is " << shapeText(shapeOf(x))
                             << ", expected [batch, length, channels]";
  return success();
}

LogicalResult hybrid::verifySegments(Operation *op, Value segments, Value x, StringRef name) {
  if (!segments)
    return success();
  ArrayRef<int64_t> ids = shapeOf(segments), shape = shapeOf(x);
  if (ids.size() != 2 || !compatible(ids[0], shape[0]) || !compatible(ids[1], shape[1]))
    return op->emitOpError() << "segments is " << shapeText(ids) << ", but " << name << " is "
                             << shapeText(shape) << ": expected its batch and length";
  return success();
}

LogicalResult hybrid::verifyState(Operation *op, StringRef name, Value state,
                                  ArrayRef<int64_t> expected, StringRef layout) {
  if (state && !compatibleShapes(shapeOf(state), expected))
    return op->emitOpError() << name << " is " << shapeText(shapeOf(state)) << ", expected "
                             << shapeText(expected) << " (" << layout << ")";
  return success();
}

FailureOr<int64_t> hybrid::alongSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                             int64_t axis, StringRef &why) {
  if (!llvm::all_equal(operandAxes)) {
    why = "only some of what is joined runs along the sequence";
    return failure();
  }
  if (operandAxes.front() == axis) {
    why = "it cuts, joins or shifts along the sequence";
    return failure();
  }
  return *operandAxes.front();
}

// What is the same at every position must not have one size of the sequence, or it would tell
// positions apart.
FailureOr<int64_t> hybrid::broadcastSequenceAxis(Operation *op,
                                                 ArrayRef<std::optional<int64_t>> operandAxes,
                                                 StringRef &why) {
  int64_t rank = std::ssize(shapeOf(op->getResult(0))), axis = -1;
  for (auto [operand, own] : llvm::zip_equal(op->getOperands(), operandAxes)) {
    if (!own)
      continue;
    int64_t place = *own + rank - std::ssize(shapeOf(operand));
    if (axis >= 0 && axis != place) {
      why = "positions meet other positions";
      return failure();
    }
    axis = place;
  }
  for (auto [operand, own] : llvm::zip_equal(op->getOperands(), operandAxes)) {
    int64_t place = axis - rank + std::ssize(shapeOf(operand));
    if (!own && place >= 0 && shapeOf(operand)[place] != 1) {
      why = "a value differs from position to position of the chunk";
      return failure();
    }
  }
  return axis;
}
