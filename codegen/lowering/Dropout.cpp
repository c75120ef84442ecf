//===- Dropout.cpp - values left out while training -------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(DropoutOp op, ProgramBuilder &program) {
  return refuse(op, program, "hybrid-leave-out-dropout");
}

} // namespace hybrid
