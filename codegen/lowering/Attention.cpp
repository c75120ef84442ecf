//===- Attention.cpp - softmax attention ------------------------------------===//
#include "codegen/kernels/AttentionConversions.h"
#include "codegen/kernels/RotaryTable.h"
#include "codegen/lowering/Alignment.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/CarriedState.h"
#include "dialect/Shapes.h"
#include <cmath>

using namespace mlir;

namespace hybrid {

/// Sizes and masks; strides and scale are left to the caller.
template <typename Op> static AttentionParams attentionParams(Op op) {
  AttentionParams params{};
  ArrayRef<int64_t> q = shapeOf(op.getQ());
  params.batch = q[0], params.length = q[1], params.keyLength = shapeOf(op.getK())[1];
  params.heads = op.getHeads(), params.kvHeads = op.getKvHeads(),
  params.headSize = q[2] / params.heads;
  params.valueSize = lastSize(op.getV()) / params.kvHeads;
  params.causal = op.getCausal(), params.window = static_cast<int64_t>(op.getWindow());
  params.rotaryDims = op.getRotaryDims(), params.rotaryInterleaved = op.getRotaryInterleaved();
  params.hasSegments = !!op.getSegments();
  params.queryTerms = op.getQueryTerms() ? shapeOf(op.getQueryTerms())[1] : 0;
  params.keyTerms = op.getKeyTerms() ? shapeOf(op.getKeyTerms())[1] : 0;
  params.score = !op.getScore().empty();
  return params;
}

/// A window as long as all keys at most: kernels add it to positions of 32 bits.
static AttentionParams withinKeys(AttentionParams params) {
  params.window = std::min(params.window, params.keyLength);
  return params;
}

/// Forward, with the past in rings.
static AttentionParams paramsOf(AttentionOp op) {
  AttentionParams params = attentionParams(op);
  params.past = op.getPastK() ? shapeOf(op.getPastK())[1] : 0;
  params.keyLength += params.past;
  return withinKeys(params);
}
static AttentionParams paramsOf(AttentionGradOp op) { return withinKeys(attentionParams(op)); }

namespace {

/// What attention and its gradient start with.
struct Operands {
  AttentionParams params;
  View q, k, v;
  BufferUse segments, rotary, queryTerms, keyTerms;
  SmallVector<std::string> functions; // of the score

  template <typename Op>
  Operands(Op op, double scale, ProgramBuilder &program) : params(paramsOf(op)) {
    params.scale = scale;
    q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride);
    v = program.rows(op.getV(), params.vStride);
    segments = program.optionalUse(op.getSegments());
    queryTerms = program.optionalUse(op.getQueryTerms());
    keyTerms = program.optionalUse(op.getKeyTerms());
    if (params.score)
      functions.push_back(program.functionOf(op.getScore()));
    if (params.rotaryDims == 0)
      return;
    RotaryTableParams table{params.keyLength, params.rotaryDims,
                            op.getRotaryBase().convertToDouble(), 1.0,
                            op.getXposBase().convertToDouble()};
    rotary = program.use(
        program.constantTable<RotaryTable>(q.element, table, table.positions * table.dims / 2 * 4));
  }
};

} // namespace

//===-- By a library -----------------------------------------------------------===//
//
// The library takes bf16 and gives bf16: kernels of ours rotate, round and arrange what it reads,
// and bring back what it writes. Rotating back in memory serves our own tiles, too.

/// From so many keys on the library is worth its conversions, by counts of operations; not
/// measured.
constexpr int64_t leastKeys = 257;
/// Heads below are slower in the library than in our kernels, too, which take several at once.
constexpr int64_t leastHead = 64;

static bool hasLseGradient(AttentionOp) { return false; }
static bool hasLseGradient(AttentionGradOp op) { return !!op.getLseCotangent(); }

template <typename Op> static bool takesLibrary(Op op, const DeviceTraits &device) {
  if (device.attention == AttentionBy::Own || !device.rounds || !elementOf(op.getQ()).isF32())
    return false;
  const AttentionParams params = paramsOf(op);
  const bool computed = params.headSize % 8 == 0 && params.headSize <= device.widestHead &&
                        params.valueSize == params.headSize && !params.score &&
                        !hasLseGradient(op) && params.window < 0 && !params.hasSegments &&
                        params.past == 0 && (!params.causal || params.length == params.keyLength);
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
    launch<AttentionRound>(x, stride, side, to.heads, to.rows,
                           {program.use(x), rotation(side), use(to)});
  }
  /// Gradients in x, where blocks left them as they were.
  void rotateBack(const View &x, AttentionSide side, int64_t heads, int64_t rows) {
    launch<AttentionRotateBack>(x, *x.rowStride(), side, heads, rows, {rotary, program.use(x)});
  }
  /// What it wrote, to x.
  void widen(const Operand &from, const View &x, AttentionSide side) {
    launch<AttentionWiden>(x, *x.rowStride(), side, from.heads, from.rows,
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
  template <typename Kernel>
  void launch(const View &x, int64_t stride, AttentionSide side, int64_t heads, int64_t rows,
              ArrayRef<BufferUse> buffers) {
    AttentionConversion conversion{};
    conversion.batch = params.batch, conversion.rows = rows;
    conversion.heads = heads, conversion.headSize = params.headSize;
    conversion.stride = stride;
    conversion.side = static_cast<int64_t>(params.rotaryDims > 0 ? side : AttentionSide::Other);
    conversion.shift = side == AttentionSide::Query ? params.keyLength - params.length : 0;
    conversion.rotaryDims = conversion.side ? params.rotaryDims : 0;
    conversion.rotaryInterleaved = conversion.side ? params.rotaryInterleaved : 0;
    conversion.alignment = commonAlignment({stride, x.offset});
    program.launch<Kernel>(x.element, conversion, buffers);
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

static LogicalResult lowerByLibrary(AttentionOp op, const Operands &o, ProgramBuilder &program) {
  Conversions convert(program, o.params, o.rotary);
  View result = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  Operand queries = convert.queries(), keys = convert.keys(), values = convert.keys(),
          output = convert.queries();
  convert.round(o.q, o.params.qStride, AttentionSide::Query, queries);
  convert.round(o.k, o.params.kStride, AttentionSide::Key, keys);
  convert.round(o.v, o.params.vStride, AttentionSide::Other, values);
  program.attention(callOf(o.params, false),
                    {convert.use(queries), convert.use(keys), convert.use(values),
                     convert.use(output), program.use(lse)});
  convert.widen(output, result, AttentionSide::Other);
  return success();
}

static LogicalResult lowerByLibrary(AttentionGradOp op, const Operands &o,
                                    ProgramBuilder &program) {
  int64_t outputStride, cotangentStride;
  View out = program.rows(op.getOutput(), outputStride), lse = program.dense(op.getLse()),
       dy = program.rows(op.getCotangent(), cotangentStride);
  Conversions convert(program, o.params, o.rotary);
  View dq = program.define(op.getDq()), dk = program.define(op.getDk()),
       dv = program.define(op.getDv());
  Operand queries = convert.queries(), keys = convert.keys(), values = convert.keys(),
          output = convert.queries(), cotangent = convert.queries(),
          queryGradient = convert.queries(), keyGradient = convert.keys(),
          valueGradient = convert.keys();
  convert.round(o.q, o.params.qStride, AttentionSide::Query, queries);
  convert.round(o.k, o.params.kStride, AttentionSide::Key, keys);
  convert.round(o.v, o.params.vStride, AttentionSide::Other, values);
  convert.round(out, outputStride, AttentionSide::Other, output);
  convert.round(dy, cotangentStride, AttentionSide::Other, cotangent);
  View room = program.temporary({o.params.batch, o.params.heads, o.params.length}, o.q.element);
  program.attention(callOf(o.params, true),
                    {convert.use(queries), convert.use(keys), convert.use(values),
                     convert.use(output), program.use(lse), convert.use(cotangent),
                     convert.use(queryGradient), convert.use(keyGradient),
                     convert.use(valueGradient), program.use(room)});
  convert.widen(queryGradient, dq, AttentionSide::Query);
  convert.widen(keyGradient, dk, AttentionSide::Key);
  convert.widen(valueGradient, dv, AttentionSide::Other);
  return success();
}

/// The rings of keys and values and what counts their positions; absent without a past.
struct Past {
  BufferUse keys, values, seen;

  Past(AttentionOp op, ProgramBuilder &program)
      : keys(program.optionalUse(op.getPastK())), values(program.optionalUse(op.getPastV())),
        seen(program.absent()) {
    if (op.getPastK())
      seen = program.use(program.parameterView(countOfRing(op.getPastK())));
  }
};

//===-- In tiles on CUDA -------------------------------------------------------===//

/// Elements that all rows of `views` may be moved in.
static int64_t alignmentOf(const AttentionParams &params, ArrayRef<View> views, int64_t most) {
  int64_t alignment = commonAlignment({params.headSize, params.valueSize, params.qStride,
                                       params.kStride, params.vStride, params.oStride,
                                       params.dqStride, params.dkStride, params.dvStride},
                                      most);
  for (const View &view : views)
    alignment = std::min(alignment, commonAlignment({view.offset}, most));
  return alignment;
}
static bool roundsProducts(const DeviceTraits &device, Type element) {
  return device.rounds && !element.isF64();
}

/// The same pass by blocks that have heads whole; wholeHeads is 0 where it is left to tiles.
static AttentionParams wholeHeads(const AttentionParams &params, ProgramBuilder &program,
                                  Type element, ArrayRef<View> views) {
  return program.ask<AttentionWhole>(element, params, roundsProducts(program.device(), element),
                                     alignmentOf(params, views, 8), program.device().sharedBytes);
}

/// Chooses the tiles of a pass whose rows are `views`.
static LogicalResult chooseTiles(Operation *op, const DeviceTraits &device, Type element,
                                 cuda::AttentionPass pass, AttentionParams &params,
                                 ProgramBuilder &program, ArrayRef<View> views) {
  params = program.ask<AttentionTiling>(element, params, pass, roundsProducts(device, element),
                                        alignmentOf(params, views, 4), device.sharedBytes);
  if (params.rowTile == 0)
    return op->emitOpError() << "has heads of " << params.widestHead()
                             << " channels, more than a block's shared memory holds ("
                             << device.sharedBytes << " bytes)";
  return success();
}

/// A tensor of the column side: x, or if the tiles want it prepared what attention_prepare makes.
/// Rows are those of a batch row, at positions from `shift` on.
static BufferUse streamed(ProgramBuilder &program, const AttentionParams &tiles, bool prepared,
                          const View &x, bool isKey, int64_t rows, int64_t stride, int64_t heads,
                          int64_t headSize, int64_t rotaryDims, int64_t shift, BufferUse rotary) {
  if (!prepared)
    return program.use(x);
  AttentionPrepareParams params{};
  params.batch = tiles.batch, params.rows = rows, params.heads = heads;
  params.headSize = headSize, params.stride = stride, params.shift = shift;
  params.columns = program.ask<AttentionColumns>(x.element, tiles);
  params.rotaryDims = rotaryDims, params.rotaryInterleaved = tiles.rotaryInterleaved;
  params.isKey = isKey, params.bf16 = tiles.bf16, params.alignment = tiles.alignment;
  Type element = tiles.bf16 ? BFloat16Type::get(x.element.getContext()) : x.element;
  View out = program.temporary({params.batch, heads, rows, params.columns}, element);
  program.launch<AttentionPrepare>(x.element, params,
                                   {x, rotaryDims > 0 ? rotary : program.absent(), out});
  return program.use(out);
}

/// Launches the forward pass; o has a place.
static LogicalResult forwardInTiles(AttentionOp op, const Operands &o, AttentionParams params,
                                    const View &out, const View &lse, ProgramBuilder &program) {
  Type element = o.q.element;
  if (AttentionParams whole = wholeHeads(params, program, element, {o.q, o.k, o.v, out});
      whole.wholeHeads > 0) {
    program.launch<AttentionForwardWhole>(element, whole,
                                          {o.q, o.k, o.v, o.segments, o.rotary, out, lse});
    return success();
  }
  const int64_t oStride = params.oStride;
  if (failed(chooseTiles(op, program.device(), element, cuda::AttentionPass::Forward, params,
                         program, {o.q, o.k, o.v, out})))
    return failure();
  const int64_t parts = params.keySplits, width = params.heads * params.valueSize;
  View oParts = out, lseParts = lse;
  if (parts > 1) {
    oParts = program.temporary({parts, params.batch * params.length, width}, element);
    lseParts = program.temporary({parts, lse.elements()}, element);
    params.oStride = width;
  }
  BufferUse keys = streamed(program, params, params.preparedFirst, o.k, true, params.keyLength,
                            params.kStride, params.kvHeads, params.headSize, params.rotaryDims, 0,
                            o.rotary),
            values = streamed(program, params, params.preparedSecond, o.v, false, params.keyLength,
                              params.vStride, params.kvHeads, params.valueSize, 0, 0, o.rotary);
  const Past past(op, program);
  LaunchOp launch = program.launch<AttentionForward>(element, params,
                                                     {o.q, keys, values, o.segments, o.rotary,
                                                      o.queryTerms, o.keyTerms, oParts, lseParts,
                                                      past.keys, past.values, past.seen},
                                                     {}, o.functions);
  // Rows come from rings, which are f32, or from k and v.
  if (params.past > 0)
    launch.setActivations(llvm::to_vector(llvm::make_filter_range(
        launch.getActivations(), [](int64_t buffer) { return buffer != 1 && buffer != 2; })));
  if (parts > 1)
    program.launch<AttentionCombine>(
        element, {params.batch, params.length, params.heads, params.valueSize, oStride, parts},
        {oParts, lseParts, out, lse});
  return success();
}

/// Where the gradients of the score's terms go; absent where there are no terms.
struct TermGradients {
  BufferUse ofQueries, ofKeys;

  TermGradients(AttentionGradOp op, ProgramBuilder &program)
      : ofQueries(program.absent()), ofKeys(program.absent()) {
    auto terms = op.getDterms();
    if (op.getQueryTerms())
      ofQueries = program.use(program.defineDense(terms.front()));
    if (op.getKeyTerms())
      ofKeys = program.use(program.defineDense(terms.back()));
  }
};

/// Launches the backward pass: of whole heads, or over tiles of queries, then over tiles of keys.
static LogicalResult backwardInTiles(AttentionGradOp op, const Operands &o,
                                     const AttentionParams &params, const View &out,
                                     const View &lse, const View &dy, ArrayRef<View> gradients,
                                     const TermGradients &termGradients, ProgramBuilder &program) {
  Type element = o.q.element;
  View dq = gradients[0], dk = gradients[1], dv = gradients[2];
  BufferUse dLse = program.optionalUse(op.getLseCotangent());
  const View views[] = {o.q, o.k, o.v, out, dy, dq, dk, dv};
  if (AttentionParams whole = wholeHeads(params, program, element, views); whole.wholeHeads > 0) {
    program.launch<AttentionBackwardWhole>(
        element, whole, {o.q, o.k, o.v, o.segments, o.rotary, out, lse, dy, dLse, dq, dk, dv});
    return success();
  }
  View statistics = program.temporary({params.batch, params.heads, params.length, 2}, element);
  AttentionParams byQueries = params, byKeys = params;
  if (failed(chooseTiles(op, program.device(), element, cuda::AttentionPass::BackwardQueries,
                         byQueries, program, views)) ||
      failed(chooseTiles(op, program.device(), element, cuda::AttentionPass::BackwardKeys, byKeys,
                         program, views)))
    return failure();
  BufferUse first = streamed(program, byQueries, byQueries.preparedFirst, o.k, true,
                             params.keyLength, params.kStride, params.kvHeads, params.headSize,
                             params.rotaryDims, 0, o.rotary),
            second =
                streamed(program, byQueries, byQueries.preparedSecond, o.v, false, params.keyLength,
                         params.vStride, params.kvHeads, params.valueSize, 0, 0, o.rotary);
  program.launch<AttentionBackwardQueries>(element, byQueries,
                                           {o.q, first, second, o.segments, o.rotary, o.queryTerms,
                                            o.keyTerms, out, lse, dy, dLse, dq, statistics,
                                            termGradients.ofQueries},
                                           {}, o.functions);
  first = streamed(program, byKeys, byKeys.preparedFirst, o.q, false, params.length, params.qStride,
                   params.heads, params.headSize, params.rotaryDims,
                   params.keyLength - params.length, o.rotary);
  second = streamed(program, byKeys, byKeys.preparedSecond, dy, false, params.length,
                    params.oStride, params.heads, params.valueSize, 0, 0, o.rotary);
  program.launch<AttentionBackwardKeys>(element, byKeys,
                                        {first, o.k, o.v, o.segments, o.rotary, o.queryTerms,
                                         o.keyTerms, second, statistics, dk, dv,
                                         termGradients.ofKeys},
                                        {}, o.functions);
  Conversions convert(program, params, o.rotary);
  if (cuda::rotatesApart(byQueries))
    convert.rotateBack(dq, AttentionSide::Query, params.heads, params.length);
  if (cuda::rotatesApart(byKeys))
    convert.rotateBack(dk, AttentionSide::Key, params.kvHeads, params.keyLength);
  return success();
}

//===-- Both directions --------------------------------------------------------===//

/// Scales of xPos are powers of up to half the positions, of which the smallest base, of the first
/// two channels, is 0.4 / 1.4 (RotaryTable.h): the exponent of e must leave room for the numbers
/// that they are multiplied with. Sizes are known only here.
static LogicalResult verifyXposReach(AttentionOp op) {
  const int64_t positions = paramsOf(op).keyLength;
  const double base = op.getXposBase().convertToDouble(),
               most = isa<Float64Type>(elementOf(op.getQ())) ? 650 : 80,
               reach = static_cast<double>(positions) / 2 * std::log(1.4 / 0.4);
  if (base == 0 || op.getRotaryDims() == 0 || reach <= most * base)
    return success();
  return op.emitOpError() << "xpos_base = " << numberText(op.getXposBase()) << ", but " << positions
                          << " positions have scales that the element type does not hold: expected "
                          << static_cast<int64_t>(std::ceil(reach / most)) << " or more";
}

template <> LogicalResult lower(AttentionOp op, ProgramBuilder &program) {
  if (failed(verifyXposReach(op)))
    return failure();
  const Operands o(op, op.getSoftmaxScale(), program);
  if (takesLibrary(op, program.device()))
    return lowerByLibrary(op, o, program);
  View out = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  AttentionParams params = o.params;
  params.oStride = *out.rowStride();
  if (program.device().kind == Device::Cuda)
    return forwardInTiles(op, o, params, out, lse, program);
  const Past past(op, program);
  program.launch<AttentionForward>(o.q.element, params,
                                   {o.q, o.k, o.v, o.segments, o.rotary, o.queryTerms, o.keyTerms,
                                    out, lse, past.keys, past.values, past.seen},
                                   {}, o.functions);
  return success();
}

template <> LogicalResult lower(AttentionGradOp op, ProgramBuilder &program) {
  Operands o(op, op.getScale().convertToDouble(), program);
  if (takesLibrary(op, program.device()))
    return lowerByLibrary(op, o, program);
  if (o.params.score)
    o.functions.push_back(program.functionOf(op.getScoreGradient()));
  AttentionParams params = o.params;
  params.scoreGradient = params.score, params.hasLseGradient = hasLseGradient(op);
  auto [out, dy] = program.rowsAlike(op.getOutput(), op.getCotangent(), params.oStride);
  View lse = program.dense(op.getLse()), dq = program.define(op.getDq()),
       dk = program.define(op.getDk()), dv = program.define(op.getDv());
  params.dqStride = *dq.rowStride(), params.dkStride = *dk.rowStride(),
  params.dvStride = *dv.rowStride();
  const TermGradients termGradients(op, program);
  if (program.device().kind == Device::Cuda)
    return backwardInTiles(op, o, params, out, lse, dy, {dq, dk, dv}, termGradients, program);
  program.launch<AttentionBackward>(o.q.element, params,
                                    {o.q, o.k, o.v, o.segments, o.rotary, o.queryTerms, o.keyTerms,
                                     out, lse, dy, program.optionalUse(op.getLseCotangent()), dq,
                                     dk, dv, termGradients.ofQueries, termGradients.ofKeys},
                                    {}, o.functions);
  return success();
}

} // namespace hybrid
