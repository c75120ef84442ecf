//===- LowerEmbedding.cpp - gradient of a table ----------------------------===//
#include "codegen/cpu/Lowerings.h"
#include "codegen/kernels/Kernels.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::cpu {

LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program) {
  EmbeddingParams params{};
  View ids = program.dense(op.getIds()), dy = program.rows(op.getCotangent(), params.yStride),
       dtable = program.defineDense(op.getResult());
  params.rows = ids.elements(), params.columns = dy.shape.back(), params.classes = op.getClasses();
  int64_t lanesOf = dy.element.isF64() ? lanes<double> : lanes<float>;
  program.launch("embedding_backward", dy.element, ceilDiv(params.columns, lanesOf),
                 wordsOf(params), {program.use(ids), program.use(dy), program.use(dtable)});
  return success();
}

} // namespace hybrid::cpu
