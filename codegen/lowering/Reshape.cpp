//===- Reshape.cpp - tensors under another shape ----------------------------===//
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(ReshapeOp op, ProgramBuilder &program) {
  View x = program.view(op.getX());
  std::optional<View> view = x.reshaped(shapeOf(op.getResult()));
  if (!view)
    view = program.denseCopy(x).reshaped(shapeOf(op.getResult()));
  program.alias(op.getResult(), *view);
  return success();
}

} // namespace hybrid
