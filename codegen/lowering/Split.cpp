//===- Split.cpp - parts of a tensor, and tensors of parts ------------------===//
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(SplitOp op, ProgramBuilder &program) {
  View x = program.view(op.getX());
  SmallVector<int64_t> starts(x.shape.size(), 0);
  for (Value part : op.getParts()) {
    program.alias(part, x.isPresent() ? x.sliced(starts, shapeOf(part)) : View());
    starts[op.getAxis()] += shapeOf(part)[op.getAxis()];
  }
  return success();
}

template <> LogicalResult lower(ConcatOp op, ProgramBuilder &program) {
  View whole = program.define(op.getResult());
  SmallVector<int64_t> starts(whole.shape.size(), 0);
  for (Value part : op.getParts()) {
    View place = whole.sliced(starts, shapeOf(part)), value = program.view(part);
    starts[op.getAxis()] += shapeOf(part)[op.getAxis()];
    if (value.buffer != place.buffer || value.offset != place.offset ||
        value.strides != place.strides)
      program.copy(value, place);
  }
  return success();
}

} // namespace hybrid
