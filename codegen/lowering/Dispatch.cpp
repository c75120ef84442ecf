//===- Dispatch.cpp - rows to experts and back ------------------------------===//
#include "codegen/kernels/Dispatch.h"
#include "codegen/lowering/Alignment.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// x, or a dense copy of it, with its rows in `params`: row p stands at (p / choices) * tokenStride
/// + (p % choices) * choiceStride, as a token repeated for each of its choices does without a copy.
static View tokenRows(ProgramBuilder &program, const View &x, DispatchParams &params) {
  size_t rank = x.shape.size();
  if (rank >= 2 && (x.strides[rank - 1] == 1 || x.shape[rank - 1] == 1)) {
    View tokens = x;
    tokens.shape.erase(tokens.shape.end() - 2), tokens.strides.erase(tokens.strides.end() - 2);
    if (auto stride = tokens.rowStride()) {
      params.choices = x.shape[rank - 2], params.choiceStride = x.strides[rank - 2];
      params.tokenStride = *stride;
      return x;
    }
  }
  params.choices = 1, params.choiceStride = 0, params.tokenStride = x.shape.back();
  return program.denseCopy(x);
}

template <> LogicalResult lower(DispatchOp op, ProgramBuilder &program) {
  DispatchParams params{};
  View x = tokenRows(program, program.view(op.getX()), params),
       slots = program.dense(op.getSlots()), y = program.define(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back(), params.yStride = *y.rowStride();
  params.alignment = commonAlignment({params.columns, params.tokenStride, params.choiceStride,
                                      params.yStride, x.offset, y.offset});
  program.launch<Dispatch>(x.element, params, {x, slots, y});
  return success();
}

template <> LogicalResult lower(CollectOp op, ProgramBuilder &program) {
  DispatchParams params{};
  View x = program.rows(op.getX(), params.tokenStride), slots = program.dense(op.getSlots()),
       y = program.define(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back(), params.choices = 1;
  params.yStride = *y.rowStride(), params.alignment = rowAlignment(params.columns, {x, y});
  program.launch<Collect>(x.element, params, {x, slots, y});
  return success();
}

} // namespace hybrid
