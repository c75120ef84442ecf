//===- LowerAttention.cpp - attention in tiles on a GPU ---------------------===//
#include "codegen/cuda/Alignment.h"
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/LibraryAttention.h"
#include "codegen/cuda/Lowerings.h"
#include "codegen/cuda/kernels/AttentionTiles.h"
#include "codegen/program/AttentionLowering.h"

using namespace mlir;

namespace hybrid::cuda {

/// The tiles of a pass whose rows are `views`.
template <typename T>
static FailureOr<AttentionTiles> tilesOf(Operation *op, const CudaBackend &backend,
                                         AttentionPass pass, const AttentionParams &params,
                                         ArrayRef<View> views) {
  int64_t alignment =
      commonAlignment({params.headSize, params.qStride, params.kStride, params.vStride,
                       params.oStride, params.dqStride, params.dkStride, params.dvStride});
  for (const View &view : views)
    alignment = std::min(alignment, commonAlignment({view.offset}));
  const bool bf16 = backend.rounds && sizeof(T) == 4;
  AttentionTiles tiles = attentionTiles<T>(params, pass, bf16, alignment, backend.sharedBytes);
  if (tiles.rowTile == 0)
    return op->emitOpError() << "has heads of " << params.headSize
                             << " channels, more than a block's shared memory holds ("
                             << backend.sharedBytes << " bytes)";
  return tiles;
}

template <typename T>
static void launchPass(ProgramBuilder &program, StringRef kernel, AttentionPass pass,
                       const AttentionTiles &tiles, Type element, ArrayRef<BufferUse> buffers) {
  program.launch(kernel, element, attentionItems(tiles, pass, attentionColumns<T>(tiles)),
                 wordsOf(tiles), buffers, LaunchShape{threads(tiles), sharedBytes<T>(tiles, pass)});
}

/// A tensor of the column side: x, or if the tiles want it prepared what attention_prepare makes.
/// Rows are those of a batch row, at positions from `shift` on.
template <typename T>
static BufferUse streamed(ProgramBuilder &program, const AttentionTiles &tiles, bool prepared,
                          const View &x, bool isKey, int64_t rows, int64_t stride, int64_t heads,
                          int64_t rotaryDims, int64_t shift, BufferUse rotary) {
  if (!prepared)
    return program.use(x);
  AttentionPrepareParams params{};
  params.batch = tiles.batch, params.rows = rows, params.heads = heads;
  params.headSize = tiles.headSize, params.stride = stride, params.shift = shift;
  params.columns = attentionColumns<T>(tiles);
  params.rotaryDims = rotaryDims, params.rotaryInterleaved = tiles.rotaryInterleaved;
  params.isKey = isKey, params.bf16 = tiles.bf16, params.alignment = tiles.alignment;
  Type element = tiles.bf16 ? BFloat16Type::get(x.element.getContext()) : x.element;
  View out = program.temporary({params.batch, heads, rows, params.columns}, element);
  const int64_t pack = std::min<int64_t>(tiles.alignment, 16 / sizeof(T));
  program.launch("attention_prepare", x.element,
                 ceilDiv(out.elements() / pack, attentionPrepareThreads), wordsOf(params),
                 {program.use(x), rotaryDims > 0 ? rotary : program.absent(), program.use(out)},
                 LaunchShape{attentionPrepareThreads, 0});
  return program.use(out);
}

LogicalResult lower(AttentionOp op, ProgramBuilder &program) {
  if (takesLibrary(op, backendOf(program)))
    return lowerByLibrary(op, program);
  AttentionParams params = attentionParams(op);
  params.scale = op.getSoftmaxScale();
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  BufferUse segments = program.optionalUse(op.getSegments()),
            rotary = rotaryTable(op, program, params);
  View o = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  params.oStride = *o.rowStride();
  auto launch = [&]<typename T>(T) -> LogicalResult {
    constexpr AttentionPass pass = AttentionPass::Forward;
    FailureOr<AttentionTiles> tiles =
        tilesOf<T>(op, backendOf(program), pass, params, {q, k, v, o});
    if (failed(tiles))
      return failure();
    const int64_t parts = tiles->keySplits, width = params.heads * params.headSize;
    View oParts = o, lseParts = lse;
    if (parts > 1) {
      oParts = program.temporary({parts, params.batch * params.length, width}, q.element);
      lseParts = program.temporary({parts, lse.elements()}, q.element);
      tiles->oStride = width;
    }
    BufferUse keys = streamed<T>(program, *tiles, tiles->preparedFirst, k, true, params.keyLength,
                                 params.kStride, params.kvHeads, params.rotaryDims, 0, rotary),
              values = streamed<T>(program, *tiles, tiles->preparedSecond, v, false,
                                   params.keyLength, params.vStride, params.kvHeads, 0, 0, rotary);
    launchPass<T>(program, "attention_forward", pass, *tiles, q.element,
                  {program.use(q), keys, values, segments, rotary, program.use(oParts),
                   program.use(lseParts)});
    if (parts == 1)
      return success();
    AttentionCombineParams combine{params.batch,    params.length,  params.heads,
                                   params.headSize, params.oStride, parts};
    program.launch("attention_combine", q.element, ceilDiv(lse.elements(), attentionCombineRows),
                   wordsOf(combine),
                   {program.use(oParts), program.use(lseParts), program.use(o), program.use(lse)},
                   LaunchShape{attentionCombineThreads, 0});
    return success();
  };
  return q.element.isF64() ? launch(double()) : launch(float());
}

LogicalResult lower(AttentionGradOp op, ProgramBuilder &program) {
  if (takesLibrary(op, backendOf(program)))
    return lowerByLibrary(op, program);
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
  auto launch = [&]<typename T>(T) -> LogicalResult {
    const View views[] = {q, k, v, o, dy, dq, dk, dv};
    constexpr AttentionPass queries = AttentionPass::BackwardQueries,
                            keys = AttentionPass::BackwardKeys;
    FailureOr<AttentionTiles> byQueries =
        tilesOf<T>(op, backendOf(program), queries, params, views);
    FailureOr<AttentionTiles> byKeys = tilesOf<T>(op, backendOf(program), keys, params, views);
    if (failed(byQueries) || failed(byKeys))
      return failure();
    BufferUse first = streamed<T>(program, *byQueries, byQueries->preparedFirst, k, true,
                                  params.keyLength, params.kStride, params.kvHeads,
                                  params.rotaryDims, 0, rotary),
              second = streamed<T>(program, *byQueries, byQueries->preparedSecond, v, false,
                                   params.keyLength, params.vStride, params.kvHeads, 0, 0, rotary);
    launchPass<T>(program, "attention_backward_queries", queries, *byQueries, q.element,
                  {program.use(q), first, second, segments, rotary, program.use(o),
                   program.use(lse), program.use(dy), program.use(dq), program.use(deltas)});
    first = streamed<T>(program, *byKeys, byKeys->preparedFirst, q, false, params.length,
                        params.qStride, params.heads, params.rotaryDims,
                        params.keyLength - params.length, rotary);
    second = streamed<T>(program, *byKeys, byKeys->preparedSecond, dy, false, params.length,
                         params.oStride, params.heads, 0, 0, rotary);
    launchPass<T>(program, "attention_backward_keys", keys, *byKeys, q.element,
                  {first, program.use(k), program.use(v), segments, rotary, program.use(lse),
                   second, program.use(deltas), program.use(dk), program.use(dv)});
    return success();
  };
  return q.element.isF64() ? launch(double()) : launch(float());
}

} // namespace hybrid::cuda
