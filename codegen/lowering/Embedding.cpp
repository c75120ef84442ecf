//===- Embedding.cpp - tables -----------------------------------------------===//
#include "codegen/kernels/cuda/EmbeddingParams.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(EmbeddingOp op, ProgramBuilder &program) {
  View table = program.dense(op.getTable()), ids = program.dense(op.getIds());
  Store y = program.storeOf(op.getResult());
  EmbeddingParams params{ids.elements(), table.shape[1], table.shape[0], y.stride};
  program.launch("embedding_forward", table.element, params.rows, wordsOf(params),
                 {program.use(table), program.use(ids)}, y);
  return success();
}

namespace cpu {

static LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program) {
  EmbeddingParams params{};
  View ids = program.dense(op.getIds()), dy = program.rows(op.getCotangent(), params.yStride),
       dtable = program.defineDense(op.getResult());
  params.rows = ids.elements(), params.columns = dy.shape.back(), params.classes = op.getClasses();
  int64_t lanesOf = dy.element.isF64() ? lanes<double> : lanes<float>;
  program.launch("embedding_backward", dy.element, ceilDiv(params.columns, lanesOf),
                 wordsOf(params), {program.use(ids), program.use(dy), program.use(dtable)});
  return success();
}

} // namespace cpu

namespace cuda {

static LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program) {
  EmbeddingGradParams params{};
  View ids = program.dense(op.getIds()), dy = program.rows(op.getCotangent(), params.dyStride),
       dtable = program.defineDense(op.getResult());
  params.rows = ids.elements(), params.columns = dy.shape.back();
  params.classes = static_cast<int64_t>(op.getClasses());
  int64_t parts = embeddingGradParts(params.rows, params.classes);
  params.rowsPerPart = ceilDiv(params.rows, parts);
  int64_t elements = params.classes * params.columns;
  View partial = parts == 1 ? dtable : program.temporary({parts, elements}, dy.element);
  program.launch("embedding_backward", dy.element, parts * params.classes, wordsOf(params),
                 {program.use(ids), program.use(dy), program.use(partial)},
                 LaunchShape{embeddingGradThreads, embeddingGradShared});
  if (parts > 1)
    program.sumPartials(partial, parts, elements, dtable);
  return success();
}

} // namespace cuda

template <> LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
