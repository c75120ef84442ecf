//===- CrossEntropy.cpp - losses --------------------------------------------===//
#include "codegen/kernels/CrossEntropy.h"
#include "codegen/lowering/RowItems.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(CrossEntropyOp op, ProgramBuilder &program) {
  CrossEntropyParams params{};
  View logits = program.rows(op.getLogits(), params.logitsStride);
  params.classes = logits.shape.back(), params.rows = logits.elements() / params.classes;
  params.rowsPerItem = program.rowsPerItem(params.rows);
  params.ignoreIndex = static_cast<int64_t>(op.getIgnoreIndex()),
  params.hasWeights = !!op.getWeights();
  params.labelSmoothing = op.getLabelSmoothing().convertToDouble();
  View partial = program.temporary({ceilDiv(params.rows, params.rowsPerItem), 3}, logits.element);
  program.launch<CrossEntropyForward>(logits.element, params,
                                      {logits, program.optionalUse(op.getTargets()),
                                       program.optionalUse(op.getWeights()), partial});
  View loss = program.defineDense(op.getLoss()),
       totalWeight = program.defineDense(op.getTotalWeight()),
       correct = program.defineDense(op.getCorrect());
  program.afterTiles([=, &program] {
    program.launch<CrossEntropyFinish>(partial.element, params,
                                       {partial, loss, totalWeight, correct});
  });
  return success();
}

template <> LogicalResult lower(CrossEntropyGradOp op, ProgramBuilder &program) {
  CrossEntropyParams params{};
  View logits = program.rows(op.getLogits(), params.logitsStride);
  SmallVector<BufferUse> operands{program.use(logits), program.optionalUse(op.getTargets()),
                                  program.optionalUse(op.getWeights()),
                                  program.optionalUse(op.getTotalWeight()),
                                  program.optionalUse(op.getCotangent())};
  Store dlogits = program.storeOf(op.getDlogits());
  params.classes = logits.shape.back(), params.rows = logits.elements() / params.classes;
  params.rowsPerItem = rowsOfItem(program, params.classes);
  params.dLogitsStride = dlogits.stride;
  params.ignoreIndex = static_cast<int64_t>(op.getIgnoreIndex()),
  params.hasWeights = !!op.getWeights();
  params.labelSmoothing = op.getLabelSmoothing().convertToDouble();
  program.launch<CrossEntropyBackward>(logits.element, params, operands, dlogits);
  return success();
}

} // namespace hybrid
