//===- Slice.cpp - a stretch of a tensor, and the way back ------------------===//
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(SliceOp op, ProgramBuilder &program) {
  View x = program.view(op.getX());
  program.alias(op.getResult(),
                x.isPresent() ? x.sliced(op.getStarts(), shapeOf(op.getResult())) : View());
  return success();
}

template <> LogicalResult lower(PadOp op, ProgramBuilder &program) {
  View whole = program.define(op.getResult());
  program.fill(whole, 0);
  program.copy(program.view(op.getX()), whole.sliced(op.getStarts(), shapeOf(op.getX())));
  return success();
}

} // namespace hybrid
