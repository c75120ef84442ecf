//===- LowerAttention.cpp - attention in tiles on a GPU ---------------------===//
#include "codegen/cuda/Alignment.h"
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/Lowerings.h"
#include "codegen/cuda/kernels/AttentionTiles.h"
#include "codegen/program/AttentionLowering.h"

using namespace mlir;

namespace hybrid::cuda {

/// A launch of one pass over attention.
static LogicalResult launchPass(Operation *op, ProgramBuilder &program, StringRef kernel,
                                AttentionPass pass, const AttentionParams &params, Type element,
                                ArrayRef<View> rows, ArrayRef<BufferUse> buffers) {
  int64_t alignment =
      commonAlignment({params.headSize, params.qStride, params.kStride, params.vStride,
                       params.oStride, params.dqStride, params.dkStride, params.dvStride});
  for (const View &view : rows)
    alignment = std::min(alignment, commonAlignment({view.offset}));
  const CudaBackend &backend = backendOf(program);
  auto launch = [&]<typename T>(T) -> LogicalResult {
    const bool bf16 = backend.rounds && sizeof(T) == 4;
    AttentionTiles tiles = attentionTiles<T>(params, pass, bf16, alignment, backend.sharedBytes);
    if (tiles.rowTile == 0)
      return op->emitOpError() << "has heads of " << params.headSize
                               << " channels, more than a block's shared memory holds ("
                               << backend.sharedBytes << " bytes)";
    program.launch(kernel, element, attentionItems(tiles, pass, attentionColumns<T>(tiles)),
                   wordsOf(tiles), buffers,
                   LaunchShape{threads(tiles), sharedBytes<T>(tiles, pass)});
    return success();
  };
  return element.isF64() ? launch(double()) : launch(float());
}

LogicalResult lower(AttentionOp op, ProgramBuilder &program) {
  AttentionParams params = attentionParams(op);
  params.scale = op.getSoftmaxScale();
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  BufferUse segments = program.optionalUse(op.getSegments()),
            rotary = rotaryTable(op, program, params);
  View o = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  params.oStride = *o.rowStride();
  return launchPass(op, program, "attention_forward", AttentionPass::Forward, params, q.element,
                    {q, k, v, o},
                    {program.use(q), program.use(k), program.use(v), segments, rotary,
                     program.use(o), program.use(lse)});
}

LogicalResult lower(AttentionGradOp op, ProgramBuilder &program) {
  AttentionParams params = attentionParams(op);
  params.scale = op.getScale().convertToDouble();
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  BufferUse segments = program.optionalUse(op.getSegments()),
            rotary = rotaryTable(op, program, params);
  View o = program.rows(op.getOutput(), params.oStride), lse = program.dense(op.getLse());
  int64_t cotangentStride;
  View dy = program.rows(op.getCotangent(), cotangentStride);
  if (cotangentStride != params.oStride) { // the kernels read both with one stride
    if (!o.isDense())
      o = program.denseCopy(o);
    if (!dy.isDense())
      dy = program.denseCopy(dy);
    params.oStride = *o.rowStride();
  }
  View dq = program.define(op.getDq()), dk = program.define(op.getDk()),
       dv = program.define(op.getDv());
  params.dqStride = *dq.rowStride(), params.dkStride = *dk.rowStride(),
  params.dvStride = *dv.rowStride();
  View deltas = program.temporary({params.batch, params.heads, params.length}, q.element);
  const View rows[] = {q, k, v, o, dy, dq, dk, dv};
  if (failed(launchPass(op, program, "attention_backward_queries", AttentionPass::BackwardQueries,
                        params, q.element, rows,
                        {program.use(q), program.use(k), program.use(v), segments, rotary,
                         program.use(o), program.use(lse), program.use(dy), program.use(dq),
                         program.use(deltas)})))
    return failure();
  return launchPass(
      op, program, "attention_backward_keys", AttentionPass::BackwardKeys, params, q.element, rows,
      {program.use(q), program.use(k), program.use(v), segments, rotary, program.use(lse),
       program.use(dy), program.use(deltas), program.use(dk), program.use(dv)});
}

} // namespace hybrid::cuda
