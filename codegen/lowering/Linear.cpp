//===- Linear.cpp - projections ---------------------------------------------===//
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/MatrixProduct.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(LinearOp op, ProgramBuilder &program) {
  multiply(program, op.getX(), false, op.getWeight(), true, op.getBias(), op.getResult());
  return success();
}

} // namespace hybrid
