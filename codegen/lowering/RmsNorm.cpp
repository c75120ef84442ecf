//===- RmsNorm.cpp - root mean square norms ---------------------------------===//
#include "codegen/kernels/Kernels.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(RmsNormOp op, ProgramBuilder &program) {
  RmsNormParams params{};
  View x = program.rows(op.getX(), params.xStride);
  BufferUse weight = program.optionalUse(op.getWeight());
  Store y = program.storeOf(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.yStride = y.stride;
  params.hasWeight = !!op.getWeight(), params.epsOutside = op.getEpsilonOutside();
  params.eps = op.getEpsilon().convertToDouble();
  program.launch("rmsnorm_forward", x.element, params.rows, wordsOf(params),
                 {program.use(x), weight}, y);
  return success();
}

template <> LogicalResult lower(RmsNormGradOp op, ProgramBuilder &program) {
  RmsNormParams params{};
  View x = program.rows(op.getX(), params.xStride),
       dy = program.rows(op.getCotangent(), params.yStride);
  BufferUse weight = program.optionalUse(op.getWeight());
  Store dx = program.storeOf(op.getDx());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.dxStride = dx.stride, params.rowsPerItem = program.rowsPerItem(params.rows);
  params.hasWeight = !!op.getWeight(), params.epsOutside = op.getEpsilonOutside();
  params.eps = op.getEpsilon().convertToDouble();
  int64_t grid = ceilDiv(params.rows, params.rowsPerItem);
  View partial = program.temporary({grid, params.columns}, x.element);
  program.launch("rmsnorm_backward", x.element, grid, wordsOf(params),
                 {program.use(x), weight, program.use(dy), program.use(partial)}, dx);
  if (!op.getDweight().use_empty())
    program.sumPartials(partial, grid, params.columns, program.defineDense(op.getDweight()));
  return success();
}

} // namespace hybrid
