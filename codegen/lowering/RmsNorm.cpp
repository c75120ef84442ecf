//===- RmsNorm.cpp - root mean square norms ---------------------------------===//
#include "codegen/kernels/RmsNorm.h"
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
  program.launch<RmsNormForward>(x.element, params, {x, weight}, y);
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
  const int64_t items = ceilDiv(params.rows, params.rowsPerItem);
  View partial = program.temporary({items, params.columns}, x.element);
  program.launch<RmsNormBackward>(x.element, params, {x, weight, dy, partial}, dx);
  if (!op.getDweight().use_empty())
    program.sumPartials(partial, items, params.columns, program.defineDense(op.getDweight()));
  return success();
}

} // namespace hybrid
