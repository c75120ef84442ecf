//===- Broadcast.cpp - repeated dimensions ----------------------------------===//
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(BroadcastOp op, ProgramBuilder &program) {
  program.alias(op.getResult(), program.view(op.getX()).broadcastTo(shapeOf(op.getResult())));
  return success();
}

} // namespace hybrid
