//===- LowerExpert.cpp - choosing experts and their products ----------------===//
#include "codegen/cpu/Lowerings.h"
#include "codegen/kernels/Kernels.h"
#include "dialect/Shapes.h"
#include <cmath>

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
  RouteParams params{choices.elements(), static_cast<int64_t>(op.getExperts()), 0};
  double factor = op.getCapacityFactor().convertToDouble();
  double capacity =
      std::ceil(factor * static_cast<double>(params.pairs) / static_cast<double>(params.experts));
  params.capacity = static_cast<int64_t>(std::min(capacity, static_cast<double>(params.pairs)));
  // Integers only: the type of the kernel is either.
  program.launch("route", Float32Type::get(op.getContext()), 1, wordsOf(params),
                 {program.use(choices), program.use(slots), program.use(offsets)},
                 routeScratch(params));
  return success();
}

/// Row p of a view stands at (p / choices) * tokenStride + (p % choices) * choiceStride, as a token
/// repeated for each of its choices does without a copy.
static bool tokenRows(const View &x, DispatchParams &params) {
  size_t rank = x.shape.size();
  if (rank < 2 || (x.strides[rank - 1] != 1 && x.shape[rank - 1] != 1))
    return false;
  params.choices = x.shape[rank - 2], params.choiceStride = x.strides[rank - 2];
  View tokens = x;
  tokens.shape.erase(tokens.shape.end() - 2), tokens.strides.erase(tokens.strides.end() - 2);
  auto stride = tokens.rowStride();
  params.tokenStride = stride.value_or(0);
  return stride.has_value();
}

LogicalResult lower(DispatchOp op, ProgramBuilder &program) {
  DispatchParams params{};
  View x = program.view(op.getX()), slots = program.dense(op.getSlots());
  if (!tokenRows(x, params)) {
    x = program.denseCopy(x);
    params.choices = 1, params.choiceStride = 0, params.tokenStride = x.shape.back();
  }
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
