//===- Take.cpp - values at indices, and back -------------------------------===//
#include "codegen/kernels/Take.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// Rows of x and rows of y, of which the one holds `columns` values and the other one for each
/// index.
template <typename Kernel, typename Op>
static LogicalResult lowerIndexed(Op op, ProgramBuilder &program) {
  TakeParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.dense(op.getIndices()),
       y = program.define(op.getResult());
  const View &wide = std::is_same_v<Op, TakeOp> ? x : y;
  params.rows = rowCount(x), params.columns = wide.shape.back();
  params.count = indices.shape.back();
  params.yStride = *y.rowStride();
  program.launch<Kernel>(x.element, params, {x, indices, y});
  return success();
}

template <> LogicalResult lower(TakeOp op, ProgramBuilder &program) {
  return lowerIndexed<Take>(op, program);
}

template <> LogicalResult lower(ScatterOp op, ProgramBuilder &program) {
  return lowerIndexed<Scatter>(op, program);
}

} // namespace hybrid
