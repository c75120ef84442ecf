//===- Reverse.cpp - a dimension backwards ----------------------------------===//
#include "codegen/kernels/Reverse.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(ReverseOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), y = program.defineDense(op.getResult());
  ReverseParams params{1, x.shape[op.getAxis()], 1};
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (i != op.getAxis())
      (i < op.getAxis() ? params.outer : params.inner) *= x.shape[i];
  // Integers have the width of f32, and nothing is computed.
  Type element = x.element.isF64() ? x.element : Float32Type::get(op.getContext());
  program.launch<Reverse>(element, params, {x, y});
  return success();
}

} // namespace hybrid
