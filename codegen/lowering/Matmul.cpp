//===- Matmul.cpp - products of matrices ------------------------------------===//
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/MatrixProduct.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(MatmulOp op, ProgramBuilder &program) {
  if (op.isRowwise())
    multiply(program, op.getA(), op.getTransposeA(), op.getB(), op.getTransposeB(), Value(),
             op.getResult());
  else
    multiplyEach(program, op.getA(), op.getB(), op.getTransposeB(), op.getResult());
  return success();
}

} // namespace hybrid
