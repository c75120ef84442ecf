//===- LowerEmbedding.cpp - gradient of a table ----------------------------===//
#include "codegen/cuda/Lowerings.h"
#include "codegen/cuda/kernels/EmbeddingParams.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::cuda {

LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program) {
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

} // namespace hybrid::cuda
