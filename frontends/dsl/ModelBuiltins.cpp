//===- ModelBuiltins.cpp - the operators the papers name -----------------------===//
#include "frontends/dsl/Operands.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

Value runEmbedding(Call &call) {
  Value table = call.tensor(0), ids = call.integers(1);
  if (call.failed || !hasRank(call, 0, table, 2, "[vocabulary, width]"))
    return {};
  Shape shape = ids.shape;
  shape.push_back(table.shape[1]);
  if (!call.emit.check(shape, call.place))
    return {};
  Location loc = call.emit.at(call.place);
  return Emitter::result(EmbeddingOp::create(call.emit.builder, loc, table.tensor, ids.tensor),
                         shape, call.place);
}

Value runLinear(Call &call) {
  Value x = call.tensor(0), weight = call.tensor(1), bias = call.tensorOr(2);
  if (call.failed || !hasRank(call, 1, weight, 2, "[out, in]"))
    return {};
  if (x.shape.empty() || x.shape.back() != weight.shape[1]) {
    call.errorHere("weight takes " + text(weight.shape[1]) + " channels, but x is " + text(x),
                   {1, 0});
    return {};
  }
  if (bias.isTensor() && bias.shape != Shape{weight.shape[0]}) {
    call.error(2,
               "bias is " + text(bias) + ", but weight has " + text(weight.shape[0]) + " outputs",
               {2, 1});
    return {};
  }
  Shape shape = x.shape;
  shape.back() = weight.shape[0];
  Location loc = call.emit.at(call.place);
  return Emitter::result(
      LinearOp::create(call.emit.builder, loc, x.tensor, weight.tensor, operand(bias)), shape,
      call.place);
}

Value runMatmul(Call &call) {
  Value a = call.tensor(0), b = call.tensor(1);
  bool transpose = call.boolean(2, false);
  if (call.failed || !hasRank(call, 1, b, 2, "a matrix"))
    return {};
  const Dim &inner = b.shape[transpose ? 1 : 0];
  if (a.shape.empty() || a.shape.back() != inner) {
    call.errorHere(text(a) + " by " + text(b) + ": the inner sizes " +
                       (a.shape.empty() ? "none" : text(a.shape.back())) + " and " + text(inner) +
                       " differ",
                   {0, 1});
    return {};
  }
  Shape shape = a.shape;
  shape.back() = b.shape[transpose ? 0 : 1];
  Location loc = call.emit.at(call.place);
  return Emitter::result(
      MatmulOp::create(call.emit.builder, loc, a.tensor, b.tensor, false, transpose), shape,
      call.place);
}

double epsilon(Call &call, size_t index) {
  double value = call.number(index, 1e-5);
  if (!call.failed && !(value >= 0))
    call.error(index, "eps = " + text(value) + ", expected at least 0");
  return value;
}

Value runRmsNorm(Call &call) {
  Value x = call.tensor(0), weight = call.tensorOr(1);
  double eps = epsilon(call, 2);
  bool outside = call.boolean(3, false);
  if (call.failed)
    return {};
  if (x.shape.empty()) {
    call.error(0, "x has no dimension to normalise", {0});
    return {};
  }
  if (!perChannel(call, 1, weight, x.shape.back(), 0))
    return {};
  OpBuilder &builder = call.emit.builder;
  Location loc = call.emit.at(call.place);
  return Emitter::result(RmsNormOp::create(builder, loc, x.tensor, operand(weight),
                                           builder.getF64FloatAttr(eps),
                                           outside ? builder.getUnitAttr() : UnitAttr()),
                         x.shape, call.place);
}

Value runLayerNorm(Call &call) {
  Value x = call.tensor(0), weight = call.tensorOr(1), bias = call.tensorOr(2);
  double eps = epsilon(call, 3);
  if (call.failed)
    return {};
  if (x.shape.empty()) {
    call.error(0, "x has no dimension to normalise", {0});
    return {};
  }
  if (!perChannel(call, 1, weight, x.shape.back(), 0) ||
      !perChannel(call, 2, bias, x.shape.back(), 0))
    return {};
  Location loc = call.emit.at(call.place);
  return Emitter::result(LayerNormOp::create(call.emit.builder, loc, x.tensor, operand(weight),
                                             operand(bias), call.emit.builder.getF64FloatAttr(eps)),
                         x.shape, call.place);
}

Value runShortConv(Call &call) {
  Value x = call.tensor(0), weight = call.tensor(1), bias = call.tensorOr(2),
        segments = call.integers(3), state = call.tensorOr(4);
  bool wanted = call.boolean(5, false);
  if (call.failed || !hasRank(call, 0, x, 3, "[batch, length, channels]") ||
      !hasRank(call, 1, weight, 2, "[channels, taps]"))
    return {};
  if (weight.shape[0] != x.shape[2]) {
    call.error(1,
               "weight has " + text(weight.shape[0]) + " channels, but x has " + text(x.shape[2]),
               {1, 0});
    return {};
  }
  if (!perChannel(call, 2, bias, x.shape[2], 0) || !segmentsFit(call, 3, segments, x))
    return {};
  if (weight.shape[1].isFree()) {
    call.error(1, "the number of taps of " + text(weight) + " is only known when compiling", {1});
    return {};
  }
  int64_t taps = weight.shape[1].size;
  Shape stateShape{x.shape[0], Dim(taps - 1), x.shape[2]};
  if (!stateFits(call, 4, state, stateShape))
    return {};
  if (wanted && taps < 2) {
    call.error(5, "a convolution of one tap carries no state");
    return {};
  }
  OpBuilder &builder = call.emit.builder;
  Location loc = call.emit.at(call.place);
  auto op = ShortConvOp::create(builder, loc, x.tensor, weight.tensor, operand(bias),
                                operand(segments), operand(state), wanted);
  return withState(call, op, x.shape, wanted, stateShape);
}

Value runFFTConv(Call &call) {
  Value x = call.tensor(0), filter = call.tensor(1), skip = call.tensorOr(2),
        segments = call.integers(3), state = call.tensorOr(4);
  bool wanted = call.boolean(5, false);
  if (call.failed || !hasRank(call, 0, x, 3, "[batch, length, channels]") ||
      !hasRank(call, 1, filter, 2, "[length, channels]"))
    return {};
  if (filter.shape[1] != x.shape[2]) {
    call.error(1,
               "filter has " + text(filter.shape[1]) + " channels, but x has " + text(x.shape[2]),
               {1, 0});
    return {};
  }
  const Dim &length = filter.shape[0], &positions = x.shape[1];
  bool tooLong =
      !length.isFree() && !positions.isFree() && length.size > positions.size && !state.isTensor();
  bool unrelated = length.isFree() && length != positions;
  if (tooLong || unrelated) {
    call.error(1,
               "filter is " + text(filter.shape[0]) + " long, but x has " + text(positions) +
                   " positions",
               {1, 0});
    return {};
  }
  if (!perChannel(call, 2, skip, x.shape[2], 0) || !segmentsFit(call, 3, segments, x))
    return {};
  if (state.isTensor() &&
      (state.shape.size() != 3 || state.shape[0] != x.shape[0] || state.shape[2] != x.shape[2])) {
    call.error(4,
               "initial_state is " + text(state) + ", expected [" + text(x.shape[0]) +
                   ", positions, " + text(x.shape[2]) + "]",
               {4, 0});
    return {};
  }
  if (wanted && state.isTensor() && (state.shape[1].isFree() || positions.isFree())) {
    call.error(5, "the length of the final state is only known when compiling");
    return {};
  }
  Shape stateShape = x.shape;
  if (state.isTensor())
    stateShape[1] = Dim(stateShape[1].size + state.shape[1].size);
  OpBuilder &builder = call.emit.builder;
  Location loc = call.emit.at(call.place);
  auto op = FFTConvOp::create(builder, loc, x.tensor, filter.tensor, operand(skip), mlir::Value(),
                              mlir::Value(), operand(segments), operand(state), wanted);
  return withState(call, op, x.shape, wanted, stateShape);
}

Value runAttention(Call &call) {
  Value q = call.tensor(0), k = call.tensor(1), v = call.tensor(2);
  int64_t heads = call.integer(3, 1, 1, INT64_MAX), kvHeads = call.integer(4, heads, 1, INT64_MAX);
  bool causal = call.boolean(5, true), interleaved = call.boolean(9, false);
  int64_t window = call.integer(6, -1, -1, INT64_MAX), rotary = call.integer(7, 0, 0, INT64_MAX);
  double base = call.number(8, 10000), xpos = call.number(10, 0), scale = call.number(12, 0);
  Value segments = call.integers(11);
  if (call.failed || !hasRank(call, 0, q, 3, "[batch, length, channels]") ||
      !hasRank(call, 1, k, 3, "[batch, length, channels]") ||
      !hasRank(call, 2, v, 3, "[batch, length, channels]"))
    return {};
  if (q.shape[2].isFree() || q.shape[2].size % heads != 0) {
    call.error(0,
               "q has " + text(q.shape[2]) + " channels, which cannot be divided among " +
                   llvm::Twine(heads) + " heads",
               {0});
    return {};
  }
  if (heads % kvHeads != 0) {
    call.errorHere("kv_heads = " + llvm::Twine(kvHeads) +
                   " does not divide heads = " + llvm::Twine(heads));
    return {};
  }
  int64_t size = q.shape[2].size / heads;
  for (size_t index : {size_t(1), size_t(2)}) {
    const Value &x = index == 1 ? k : v;
    Shape expected{q.shape[0], k.shape[1], Dim(kvHeads * size)};
    if (x.shape != expected) {
      call.error(index,
                 call.names[index] + " is " + text(x) + ", expected " + text(expected) + " (" +
                     llvm::Twine(kvHeads) + " heads of " + llvm::Twine(size) + ")",
                 {index, 0});
      return {};
    }
  }
  if (rotary % 2 != 0 || rotary > size) {
    call.error(7, "rotary_dims = " + llvm::Twine(rotary) +
                      ", expected an even number up to the head size " + llvm::Twine(size));
    return {};
  }
  if (!(base > 0) || !(xpos >= 0)) {
    call.errorHere("rotary_base and xpos_base are positive, but are " + text(base) + " and " +
                   text(xpos));
    return {};
  }
  if (!segmentsFit(call, 11, segments, q))
    return {};
  if (segments.isTensor() && q.shape[1] != k.shape[1]) {
    call.error(
        11, "segments need as many queries as keys, but q is " + text(q) + " and k is " + text(k),
        {0, 1});
    return {};
  }
  OpBuilder &builder = call.emit.builder;
  Location loc = call.emit.at(call.place);
  auto op =
      AttentionOp::create(builder, loc, q.tensor, k.tensor, v.tensor, operand(segments),
                          mlir::Value(), mlir::Value(), builder.getI64IntegerAttr(heads),
                          builder.getI64IntegerAttr(kvHeads), builder.getBoolAttr(causal),
                          builder.getI64IntegerAttr(window), builder.getI64IntegerAttr(rotary),
                          builder.getF64FloatAttr(base), builder.getBoolAttr(interleaved),
                          builder.getF64FloatAttr(xpos), builder.getF64FloatAttr(scale));
  return Emitter::result(op.getResult(), q.shape, call.place);
}

Value runCrossEntropy(Call &call) {
  Value logits = call.tensor(0), targets = call.integers(1), weights = call.tensorOr(2);
  int64_t ignore = call.integer(3, -100, INT32_MIN, INT32_MAX);
  double smoothing = call.number(4, 0);
  if (call.failed)
    return {};
  if (logits.shape.empty()) {
    call.error(0, "logits are a single number, expected [..., classes]", {0});
    return {};
  }
  Shape expected(logits.shape.begin(), logits.shape.end() - 1);
  if (targets.shape != expected) {
    call.error(1,
               "targets are " + text(targets) + ", but logits are " + text(logits) +
                   ": expected int" + text(expected),
               {1, 0});
    return {};
  }
  if (weights.isTensor() && weights.shape != expected) {
    call.error(2, "weights are " + text(weights) + ", but targets are " + text(targets), {2, 1});
    return {};
  }
  if (!(smoothing >= 0 && smoothing < 1)) {
    call.error(4, "label_smoothing = " + text(smoothing) + ", expected at least 0 and below 1");
    return {};
  }
  OpBuilder &builder = call.emit.builder;
  Location loc = call.emit.at(call.place);
  auto op =
      CrossEntropyOp::create(builder, loc, logits.tensor, targets.tensor, operand(weights),
                             builder.getI64IntegerAttr(ignore), builder.getF64FloatAttr(smoothing));
  return Emitter::result(op.getLoss(), {}, call.place);
}

} // namespace

llvm::ArrayRef<Builtin> modelBuiltins() {
  static const Builtin builtins[] = {
      {"embedding", "table, ids", runEmbedding},
      {"linear", "x, weight, bias?", runLinear},
      {"matmul", "a, b, transpose_b?", runMatmul},
      {"rmsnorm", "x, weight?, eps?, eps_outside?", runRmsNorm},
      {"layernorm", "x, weight?, bias?, eps?", runLayerNorm},
      {"short_conv", "x, weight, bias?, segments?, initial_state?, return_state?", runShortConv},
      {"fftconv", "x, filter, skip?, segments?, initial_state?, return_state?", runFFTConv},
      {"attention",
       "q, k, v, heads, kv_heads?, causal?, window?, rotary_dims?, rotary_base?, "
       "rotary_interleaved?, xpos_base?, segments?, scale?",
       runAttention},
      {"cross_entropy", "logits, targets, weights?, ignore_index?, label_smoothing?",
       runCrossEntropy},
  };
  return builtins;
}

} // namespace hybrid::dsl
