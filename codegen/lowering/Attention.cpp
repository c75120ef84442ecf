//===- Attention.cpp - softmax attention ------------------------------------===//
#include "codegen/cuda/Alignment.h"
#include "codegen/kernels/cuda/AttentionConversions.h"
#include "codegen/kernels/cuda/AttentionTiles.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/program/AttentionLowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

static LogicalResult lower(AttentionOp op, ProgramBuilder &program) {
  AttentionParams params = attentionParams(op);
  params.scale = op.getSoftmaxScale();
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  BufferUse segments = program.optionalUse(op.getSegments()),
            rotary = rotaryTable(op, program, params);
  View o = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  params.oStride = *o.rowStride();
  program.launch("attention_forward", q.element, params.batch * params.heads, wordsOf(params),
                 {program.use(q), program.use(k), program.use(v), segments, rotary, program.use(o),
                  program.use(lse)},
                 q.element.isF64() ? attentionForwardScratch<double>(params)
                                   : attentionForwardScratch<float>(params));
  return success();
}

static LogicalResult lower(AttentionGradOp op, ProgramBuilder &program) {
  AttentionParams params = attentionParams(op);
  params.scale = op.getScale().convertToDouble();
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  BufferUse segments = program.optionalUse(op.getSegments()),
            rotary = rotaryTable(op, program, params);
  View o = program.rows(op.getOutput(), params.oStride), lse = program.dense(op.getLse());
  int64_t cotangentStride;
  View dy = program.rows(op.getCotangent(), cotangentStride);
  if (cotangentStride != params.oStride) { // the kernel reads both with one stride
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
  program.launch("attention_backward", q.element, params.batch * params.kvHeads, wordsOf(params),
                 {program.use(q), program.use(k), program.use(v), segments, rotary, program.use(o),
                  program.use(lse), program.use(dy), program.use(dq), program.use(dk),
                  program.use(dv)},
                 q.element.isF64() ? attentionBackwardScratch<double>(params)
                                   : attentionBackwardScratch<float>(params));
  return success();
}

} // namespace cpu

namespace cuda {

/// From so many keys on the library is worth its conversions, by counts of operations; not
/// measured.
constexpr int64_t leastKeys = 257;
/// Heads below are slower in the library than in our kernels, too, which take several at once.
constexpr int64_t leastHead = 64;

template <typename Op> static bool takesLibrary(Op op, const DeviceTraits &device) {
  if (device.attention == AttentionBy::Own || !device.rounds || !elementOf(op.getQ()).isF32())
    return false;
  const AttentionParams params = attentionParams(op);
  const bool computed = params.headSize % 8 == 0 && params.headSize <= device.widestHead &&
                        params.window < 0 && !params.hasSegments &&
                        (!params.causal || params.length == params.keyLength);
  return computed && (device.attention == AttentionBy::Cudnn ||
                      (params.headSize >= leastHead && params.keyLength >= leastKeys));
}

namespace {

/// One of the library's tensors: rows of bf16 in heads, [batch, heads, rows, headSize].
struct Operand {
  View memory;
  int64_t heads, rows;
};

class Conversions {
public:
  Conversions(ProgramBuilder &program, const AttentionParams &params, BufferUse rotary)
      : program(program), params(params), rotary(rotary) {}

  Operand queries() { return room(params.heads, params.length); }
  Operand keys() { return room(params.kvHeads, params.keyLength); }

  /// What the library reads of x.
  void round(const View &x, int64_t stride, AttentionSide side, const Operand &to) {
    launch("attention_round", x, stride, side, to, {program.use(x), rotation(side), use(to)});
  }
  /// What it wrote, to x.
  void widen(const Operand &from, const View &x, AttentionSide side) {
    launch("attention_widen", x, *x.rowStride(), side, from,
           {use(from), rotation(side), program.use(x)});
  }
  BufferUse use(const Operand &operand) { return program.use(operand.memory); }

private:
  Operand room(int64_t heads, int64_t rows) {
    Type bf16 = BFloat16Type::get(program.function.getContext());
    return {program.temporary({params.batch, heads, rows, params.headSize}, bf16), heads, rows};
  }
  BufferUse rotation(AttentionSide side) {
    return side == AttentionSide::Other || params.rotaryDims == 0 ? program.absent() : rotary;
  }
  void launch(StringRef kernel, const View &x, int64_t stride, AttentionSide side,
              const Operand &operand, ArrayRef<BufferUse> buffers) {
    AttentionConversion conversion{};
    conversion.batch = params.batch, conversion.rows = operand.rows;
    conversion.heads = operand.heads, conversion.headSize = params.headSize;
    conversion.stride = stride;
    conversion.side = static_cast<int64_t>(params.rotaryDims > 0 ? side : AttentionSide::Other);
    conversion.shift = side == AttentionSide::Query ? params.keyLength - params.length : 0;
    conversion.rotaryDims = conversion.side ? params.rotaryDims : 0;
    conversion.rotaryInterleaved = conversion.side ? params.rotaryInterleaved : 0;
    conversion.alignment = commonAlignment({stride, x.offset});
    program.launch(kernel, x.element, attentionConversionItems(conversion), wordsOf(conversion),
                   buffers, LaunchShape{attentionConversionThreads, 0});
  }

  ProgramBuilder &program;
  const AttentionParams &params;
  BufferUse rotary;
};

AttentionCall callOf(const AttentionParams &params, bool backward) {
  AttentionCall call;
  call.batch = params.batch, call.length = params.length, call.keyLength = params.keyLength;
  call.heads = params.heads, call.kvHeads = params.kvHeads, call.headSize = params.headSize;
  call.causal = params.causal, call.backward = backward, call.scale = params.scale;
  auto add = [&](int64_t heads, int64_t rows) {
    call.strides.append({heads * rows * params.headSize, params.headSize, rows * params.headSize});
  };
  auto addQueries = [&] { add(params.heads, params.length); };
  auto addKeys = [&] { add(params.kvHeads, params.keyLength); };
  addQueries(), addKeys(), addKeys(), addQueries();
  if (backward)
    addQueries(), addQueries(), addKeys(), addKeys();
  return call;
}

} // namespace

static LogicalResult lowerByLibrary(AttentionOp op, ProgramBuilder &program) {
  AttentionParams params = attentionParams(op);
  params.scale = op.getSoftmaxScale();
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  Conversions convert(program, params, rotaryTable(op, program, params));
  View result = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  Operand queries = convert.queries(), keys = convert.keys(), values = convert.keys(),
          output = convert.queries();
  convert.round(q, params.qStride, AttentionSide::Query, queries);
  convert.round(k, params.kStride, AttentionSide::Key, keys);
  convert.round(v, params.vStride, AttentionSide::Other, values);
  program.attention(callOf(params, false),
                    {convert.use(queries), convert.use(keys), convert.use(values),
                     convert.use(output), program.use(lse)});
  convert.widen(output, result, AttentionSide::Other);
  return success();
}

static LogicalResult lowerByLibrary(AttentionGradOp op, ProgramBuilder &program) {
  AttentionParams params = attentionParams(op);
  params.scale = op.getScale().convertToDouble();
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  int64_t cotangentStride;
  View o = program.rows(op.getOutput(), params.oStride), lse = program.dense(op.getLse()),
       dy = program.rows(op.getCotangent(), cotangentStride);
  Conversions convert(program, params, rotaryTable(op, program, params));
  View dq = program.define(op.getDq()), dk = program.define(op.getDk()),
       dv = program.define(op.getDv());
  Operand queries = convert.queries(), keys = convert.keys(), values = convert.keys(),
          output = convert.queries(), cotangent = convert.queries(),
          queryGradient = convert.queries(), keyGradient = convert.keys(),
          valueGradient = convert.keys();
  convert.round(q, params.qStride, AttentionSide::Query, queries);
  convert.round(k, params.kStride, AttentionSide::Key, keys);
  convert.round(v, params.vStride, AttentionSide::Other, values);
  convert.round(o, params.oStride, AttentionSide::Other, output);
  convert.round(dy, cotangentStride, AttentionSide::Other, cotangent);
  View room = program.temporary({params.batch, params.heads, params.length}, q.element);
  program.attention(callOf(params, true),
                    {convert.use(queries), convert.use(keys), convert.use(values),
                     convert.use(output), program.use(lse), convert.use(cotangent),
                     convert.use(queryGradient), convert.use(keyGradient),
                     convert.use(valueGradient), program.use(room)});
  convert.widen(queryGradient, dq, AttentionSide::Query);
  convert.widen(keyGradient, dk, AttentionSide::Key);
  convert.widen(valueGradient, dv, AttentionSide::Other);
  return success();
}

/// The tiles of a pass whose rows are `views`.
template <typename T>
static FailureOr<AttentionTiles> tilesOf(Operation *op, const DeviceTraits &device,
                                         AttentionPass pass, const AttentionParams &params,
                                         ArrayRef<View> views) {
  int64_t alignment =
      commonAlignment({params.headSize, params.qStride, params.kStride, params.vStride,
                       params.oStride, params.dqStride, params.dkStride, params.dvStride});
  for (const View &view : views)
    alignment = std::min(alignment, commonAlignment({view.offset}));
  const bool bf16 = device.rounds && sizeof(T) == 4;
  AttentionTiles tiles = attentionTiles<T>(params, pass, bf16, alignment, device.sharedBytes);
  if (tiles.rowTile == 0)
    return op->emitOpError() << "has heads of " << params.headSize
                             << " channels, more than a block's shared memory holds ("
                             << device.sharedBytes << " bytes)";
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

static LogicalResult lower(AttentionOp op, ProgramBuilder &program) {
  if (takesLibrary(op, program.device()))
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
    FailureOr<AttentionTiles> tiles = tilesOf<T>(op, program.device(), pass, params, {q, k, v, o});
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

static LogicalResult lower(AttentionGradOp op, ProgramBuilder &program) {
  if (takesLibrary(op, program.device()))
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
    FailureOr<AttentionTiles> byQueries = tilesOf<T>(op, program.device(), queries, params, views);
    FailureOr<AttentionTiles> byKeys = tilesOf<T>(op, program.device(), keys, params, views);
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

} // namespace cuda

template <> LogicalResult lower(AttentionOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(AttentionGradOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
