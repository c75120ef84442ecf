//===- LayerNorm.cpp - layer norms ------------------------------------------===//
#include "codegen/kernels/LayerNorm.h"
#include "codegen/lowering/Alignment.h"
#include "codegen/lowering/NormGradient.h"
#include "codegen/lowering/RowItems.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(LayerNormOp op, ProgramBuilder &program) {
  LayerNormParams params{};
  View x = program.rows(op.getX(), params.xStride);
  View weight = program.optionalDense(op.getWeight()), bias = program.optionalDense(op.getBias());
  Store y = program.storeOf(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.rowsPerItem = rowsOfItem(program, params.columns);
  params.yStride = y.stride, params.alignment = rowAlignment(params.columns, {x, weight, bias});
  params.hasWeight = !!op.getWeight(), params.hasBias = !!op.getBias();
  params.eps = op.getEpsilon().convertToDouble();
  program.launch<LayerNormForward>(x.element, params, {x, weight, bias}, y);
  return success();
}

template <> LogicalResult lower(LayerNormGradOp op, ProgramBuilder &program) {
  View partial = launchNormGradient<LayerNormBackward>(op, LayerNormParams{}, 2, program);
  const int64_t items = partial.shape[0], columns = partial.shape[2];
  if (!op.getDweight().use_empty())
    program.sumPartials(partial, items, 2 * columns, program.defineDense(op.getDweight()));
  if (!op.getDbias().use_empty())
    program.sumPartials(partial.sliced({0, 1, 0}, {items, 1, columns}), items, 2 * columns,
                        program.defineDense(op.getDbias()));
  return success();
}

} // namespace hybrid
