//===- LowerLibraryAttention.cpp - attention by cuDNN -------------------------===//
//
// The library takes bf16 and gives bf16: kernels of ours rotate, round and arrange what it reads,
// and bring back what it writes.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/Alignment.h"
#include "codegen/cuda/LibraryAttention.h"
#include "codegen/cuda/kernels/AttentionConversions.h"
#include "codegen/program/AttentionLowering.h"

using namespace mlir;

namespace hybrid::cuda {

/// From so many keys on the library is worth its conversions, by counts of operations; not
/// measured.
constexpr int64_t leastKeys = 257;
/// Heads below are slower in the library than in our kernels, too, which take several at once.
constexpr int64_t leastHead = 64;

template <typename Op> bool takesLibrary(Op op, const CudaBackend &backend) {
  if (backend.attention == AttentionBy::Own || !backend.rounds || !elementOf(op.getQ()).isF32())
    return false;
  const AttentionParams params = attentionParams(op);
  const bool computed = params.headSize % 8 == 0 && params.headSize <= backend.widestHead &&
                        params.window < 0 && !params.hasSegments &&
                        (!params.causal || params.length == params.keyLength);
  return computed && (backend.attention == AttentionBy::Cudnn ||
                      (params.headSize >= leastHead && params.keyLength >= leastKeys));
}
template bool takesLibrary(AttentionOp op, const CudaBackend &backend);
template bool takesLibrary(AttentionGradOp op, const CudaBackend &backend);

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

LogicalResult lowerByLibrary(AttentionOp op, ProgramBuilder &program) {
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

LogicalResult lowerByLibrary(AttentionGradOp op, ProgramBuilder &program) {
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

} // namespace hybrid::cuda
