//===- LowerExpert.cpp - choosing experts and their products ----------------===//
#include "codegen/cpu/Lowerings.h"
#include "codegen/program/ExpertLowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::cpu {

static int64_t rowsOf(const View &view) { return view.elements() / view.shape.back(); }

LogicalResult lower(TopKOp op, ProgramBuilder &program) {
  TopKParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.defineDense(op.getResult());
  params.rows = rowsOf(x), params.columns = x.shape.back();
  params.k = static_cast<int64_t>(op.getK());
  program.launch("top_k", x.element, params.rows, wordsOf(params),
                 {program.use(x), program.use(indices)});
  return success();
}

/// take and scatter: rows of x and rows of y, of which the one holds `columns` values and the other
/// one for each index.
template <typename Op>
static LogicalResult lowerIndexed(Op op, ProgramBuilder &program, StringRef kernel) {
  TakeParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.dense(op.getIndices()),
       y = program.define(op.getResult());
  const View &wide = std::is_same_v<Op, TakeOp> ? x : y;
  params.rows = rowsOf(x), params.columns = wide.shape.back(), params.count = indices.shape.back();
  params.yStride = *y.rowStride();
  program.launch(kernel, x.element, params.rows, wordsOf(params),
                 {program.use(x), program.use(indices), program.use(y)});
  return success();
}

LogicalResult lower(TakeOp op, ProgramBuilder &program) {
  return lowerIndexed(op, program, "take");
}

LogicalResult lower(ScatterOp op, ProgramBuilder &program) {
  return lowerIndexed(op, program, "scatter");
}

LogicalResult lower(RouteOp op, ProgramBuilder &program) {
  View choices = program.dense(op.getChoices()), slots = program.defineDense(op.getSlots()),
       offsets = program.defineDense(op.getOffsets());
  RouteParams params = routeParams(op);
  // Integers only: the type of the kernel is either.
  program.launch("route", Float32Type::get(op.getContext()), 1, wordsOf(params),
                 {program.use(choices), program.use(slots), program.use(offsets)},
                 routeScratch(params));
  return success();
}

LogicalResult lower(DispatchOp op, ProgramBuilder &program) {
  DispatchParams params{};
  View x = tokenRows(program, program.view(op.getX()), params),
       slots = program.dense(op.getSlots());
  View y = program.define(op.getResult());
  params.rows = rowsOf(x), params.columns = x.shape.back(), params.yStride = *y.rowStride();
  program.launch("dispatch", x.element, params.rows, wordsOf(params),
                 {program.use(x), program.use(slots), program.use(y)});
  return success();
}

LogicalResult lower(CollectOp op, ProgramBuilder &program) {
  DispatchParams params{};
  View x = program.rows(op.getX(), params.tokenStride), slots = program.dense(op.getSlots()),
       y = program.define(op.getResult());
  params.rows = rowsOf(x), params.columns = x.shape.back(), params.choices = 1;
  params.yStride = *y.rowStride();
  program.launch("collect", x.element, params.rows, wordsOf(params),
                 {program.use(x), program.use(slots), program.use(y)});
  return success();
}

LogicalResult lower(GroupedLinearOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), weight = program.dense(op.getWeight()),
       offsets = program.dense(op.getOffsets()), y = program.defineDense(op.getResult());
  program.groupedMatmul(x, false, weight, !op.getTransposed(), y, offsets);
  return success();
}

LogicalResult lower(GroupedLinearGradOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), dy = program.dense(op.getCotangent()),
       offsets = program.dense(op.getOffsets()), dw = program.defineDense(op.getResult());
  program.groupedMatmul(dy, true, x, false, dw, offsets);
  return success();
}

} // namespace hybrid::cpu
