//===- Transpose.cpp - permuted dimensions ----------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(TransposeOp op, ProgramBuilder &program) {
  program.alias(op.getResult(), program.view(op.getX()).transposed(op.getPermutation()));
  return success();
}

} // namespace hybrid
