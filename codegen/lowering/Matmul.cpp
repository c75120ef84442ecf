//===- Matmul.cpp - products of matrices ------------------------------------===//
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/MatrixProduct.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(MatmulOp op, ProgramBuilder &program) {
  multiply(program, op.getA(), op.getTransposeA(), op.getB(), op.getTransposeB(), Value(),
           op.getResult());
  return success();
}

} // namespace hybrid
