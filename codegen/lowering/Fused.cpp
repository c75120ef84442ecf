//===- Fused.cpp - regions of elementwise ops -------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(FusedOp op, ProgramBuilder &program) {
  if (op.getNumResults() > 0)
    program.compute(op);
  return success();
}

} // namespace hybrid
