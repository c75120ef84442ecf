//===- Embedding.cpp - tables -----------------------------------------------===//
#include "codegen/kernels/Embedding.h"
#include "codegen/lowering/RowItems.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(EmbeddingOp op, ProgramBuilder &program) {
  View table = program.dense(op.getTable()), ids = program.dense(op.getIds());
  Store y = program.storeOf(op.getResult());
  EmbeddingParams params{ids.elements(), table.shape[1], table.shape[0], y.stride,
                         rowsOfItem(program, table.shape[1])};
  program.launch<EmbeddingForward>(table.element, params, {table, ids}, y);
  return success();
}

template <> LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program) {
  EmbeddingGradParams params{};
  View ids = program.dense(op.getIds()), dy = program.rows(op.getCotangent(), params.dyStride),
       dtable = program.defineDense(op.getResult());
  params.rows = ids.elements(), params.columns = dy.shape.back();
  params.classes = static_cast<int64_t>(op.getClasses());
  const int64_t parts = program.ask<EmbeddingGradParts>(dy.element, params),
                elements = params.classes * params.columns;
  params.rowsPerPart = ceilDiv(params.rows, parts);
  View partial = parts == 1 ? dtable : program.temporary({parts, elements}, dy.element);
  program.launch<EmbeddingBackward>(dy.element, params, {ids, dy, partial});
  if (parts > 1)
    program.sumPartials(partial, parts, elements, dtable);
  return success();
}

} // namespace hybrid
