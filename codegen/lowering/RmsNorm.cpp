//===- RmsNorm.cpp - root mean square norms ---------------------------------===//
#include "codegen/kernels/RmsNorm.h"
#include "codegen/lowering/Alignment.h"
#include "codegen/lowering/NormGradient.h"
#include "codegen/lowering/RowItems.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(RmsNormOp op, ProgramBuilder &program) {
  RmsNormParams params{};
  View x = program.rows(op.getX(), params.xStride);
  View weight = program.optionalDense(op.getWeight());
  Store y = program.storeOf(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.rowsPerItem = rowsOfItem(program, params.columns);
  params.yStride = y.stride, params.alignment = rowAlignment(params.columns, {x, weight});
  params.hasWeight = !!op.getWeight(), params.epsOutside = op.getEpsilonOutside();
  params.eps = op.getEpsilon().convertToDouble();
  program.launch<RmsNormForward>(x.element, params, {x, weight}, y);
  return success();
}

template <> LogicalResult lower(RmsNormGradOp op, ProgramBuilder &program) {
  RmsNormParams params{};
  params.epsOutside = op.getEpsilonOutside();
  View partial = launchNormGradient<RmsNormBackward>(op, params, 1, program);
  if (!op.getDweight().use_empty())
    program.sumPartials(partial, partial.shape[0], partial.shape[2],
                        program.defineDense(op.getDweight()));
  return success();
}

} // namespace hybrid
