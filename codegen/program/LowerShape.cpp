//===- LowerShape.cpp - rearranging ops as views ----------------------------===//
#include "codegen/kernels/Kernels.h"
#include "codegen/program/ProgramBuilder.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

LogicalResult lower(ReshapeOp op, ProgramBuilder &program) {
  View x = program.view(op.getX());
  std::optional<View> view = x.reshaped(shapeOf(op.getResult()));
  if (!view)
    view = program.denseCopy(x).reshaped(shapeOf(op.getResult()));
  program.alias(op.getResult(), *view);
  return success();
}

LogicalResult lower(TransposeOp op, ProgramBuilder &program) {
  program.alias(op.getResult(), program.view(op.getX()).transposed(op.getPermutation()));
  return success();
}

LogicalResult lower(BroadcastOp op, ProgramBuilder &program) {
  program.alias(op.getResult(), program.view(op.getX()).broadcastTo(shapeOf(op.getResult())));
  return success();
}

LogicalResult lower(SplitOp op, ProgramBuilder &program) {
  View x = program.view(op.getX());
  SmallVector<int64_t> starts(x.shape.size(), 0);
  for (Value part : op.getParts()) {
    program.alias(part, x.sliced(starts, shapeOf(part)));
    starts[op.getAxis()] += shapeOf(part)[op.getAxis()];
  }
  return success();
}

LogicalResult lower(SliceOp op, ProgramBuilder &program) {
  program.alias(op.getResult(),
                program.view(op.getX()).sliced(op.getStarts(), shapeOf(op.getResult())));
  return success();
}

LogicalResult lower(ConcatOp op, ProgramBuilder &program) {
  View whole = program.define(op.getResult());
  SmallVector<int64_t> starts(whole.shape.size(), 0);
  for (Value part : op.getParts()) {
    View place = whole.sliced(starts, shapeOf(part)), value = program.view(part);
    starts[op.getAxis()] += shapeOf(part)[op.getAxis()];
    if (value.storage != place.storage || value.offset != place.offset ||
        value.strides != place.strides)
      program.copy(value, place);
  }
  return success();
}

LogicalResult lower(ReverseOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), y = program.defineDense(op.getResult());
  ReverseParams params{1, x.shape[op.getAxis()], 1};
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (i != op.getAxis())
      (i < op.getAxis() ? params.outer : params.inner) *= x.shape[i];
  // Integers have the width of f32, and nothing is computed.
  Type element = x.element.isF64() ? x.element : Float32Type::get(op.getContext());
  program.launch("reverse", element, params.outer * params.count, wordsOf(params),
                 {program.use(x), program.use(y)});
  return success();
}

LogicalResult lower(PadOp op, ProgramBuilder &program) {
  View whole = program.define(op.getResult());
  program.fill(whole, 0);
  program.copy(program.view(op.getX()), whole.sliced(op.getStarts(), shapeOf(op.getX())));
  return success();
}

} // namespace hybrid
