//===- SequenceOps.cpp - rules of the ops that mix along the sequence -------===//
#include "dialect/HybridOps.h"
#include "dialect/SequenceRules.h"
#include "dialect/Shapes.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace hybrid;

LogicalResult hybrid::verifySegments(Operation *op, Value segments, Value x) {
  if (!segments)
    return success();
  ArrayRef<int64_t> ids = shapeOf(segments), shape = shapeOf(x);
  if (ids.size() != 2 || !compatible(ids[0], shape[0]) || !compatible(ids[1], shape[1]))
    return op->emitOpError() << "segments is " << shapeText(ids) << ", but x is "
                             << shapeText(shape) << ": expected its batch and length";
  return success();
}

LogicalResult hybrid::verifySequence(Operation *op, StringRef name, Value x) {
  if (shapeOf(x).size() != 3)
    return op->emitOpError() << name << " must be [batch, length, channels], but is "
                             << shapeText(shapeOf(x));
  return success();
}

//===-- short_conv -----------------------------------------------------------===//

LogicalResult ShortConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  if (!adaptor.getReturnState())
    return success();
  ArrayRef<int64_t> x = shapeOf(adaptor.getX()), weight = shapeOf(adaptor.getWeight());
  if (x.size() != 3 || weight.size() != 2)
    return emitOptionalError(
        location, "short_conv: x must be [batch, length, channels] and weight [channels, taps]");
  types.push_back(tensorOf({x[0], weight[1] - 1, x[2]}, elementOf(adaptor.getX())));
  return success();
}

/// What the convolution and its gradient ask in common.
template <typename Op> static LogicalResult verifyShortConv(Op op) {
  if (failed(verifySequence(op, "x", op.getX()))) // C1
    return failure();
  ArrayRef<int64_t> x = shapeOf(op.getX()), weight = shapeOf(op.getWeight());
  if (weight.size() != 2 || !compatible(weight[0], x[2])) // C2
    return op.emitOpError() << "weight is " << shapeText(weight) << ", but x has " << x[2]
                            << " channels: expected [" << x[2] << ", taps]";
  if (weight[1] == 0) // C2
    return op.emitOpError() << "weight is " << shapeText(weight) << ": expected at least one tap";
  return verifySegments(op, op.getSegments(), op.getX()); // C3
}

/// C4: `state` holds one input for each tap but the last.
static LogicalResult verifyShortState(Operation *op, StringRef name, Value state, Value x,
                                      Value weight) {
  if (!state)
    return success();
  ArrayRef<int64_t> shape = shapeOf(state), input = shapeOf(x);
  int64_t taps = shapeOf(weight)[1];
  bool fits = shape.size() == 3 && compatible(shape[0], input[0]) &&
              compatible(shape[2], input[2]) &&
              (ShapedType::isDynamic(taps) || compatible(shape[1], taps - 1));
  if (!fits)
    return op->emitOpError() << name << " is " << shapeText(shape) << ", but x is "
                             << shapeText(input) << " and there are " << taps
                             << " taps: expected [batch, taps - 1, channels]";
  return success();
}

LogicalResult ShortConvOp::verify() {
  if (failed(verifyShortConv(*this)))
    return failure();
  int64_t channels = shapeOf(getX())[2];
  if (getBias() &&
      (shapeOf(getBias()).size() != 1 || !compatible(shapeOf(getBias())[0], channels))) // C2
    return emitOpError() << "bias is " << shapeText(shapeOf(getBias())) << ", but x has "
                         << channels << " channels";
  return verifyShortState(*this, "initial_state", getInitialState(), getX(), getWeight()); // C4
}

LogicalResult ShortConvGradOp::verify() {
  if (failed(verifyShortConv(*this)) ||
      failed(
          verifyShortState(*this, "initial_state", getInitialState(), getX(), getWeight())) || // C4
      failed(verifyShortState(*this, "state_cotangent", getStateCotangent(), getX(),
                              getWeight()))) // C4
    return failure();
  return verifyCotangent(*this, "cotangent", getCotangent(), "x", getX()); // C5
}

LogicalResult ShortConvGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (shapeOf(adaptor.getWeight()).size() != 2)
    return emitOptionalError(location, "short_conv_grad: weight is ",
                             shapeText(shapeOf(adaptor.getWeight())),
                             ", expected [channels, taps]");
  types.push_back(adaptor.getX().getType());
  types.push_back(adaptor.getWeight().getType());
  types.push_back(tensorOf({shapeOf(adaptor.getWeight())[0]}, elementOf(adaptor.getX())));
  if (adaptor.getInitialState())
    types.push_back(adaptor.getInitialState().getType());
  return success();
}

//===-- fftconv --------------------------------------------------------------===//

LogicalResult FFTConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  if (!adaptor.getReturnState())
    return success();
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  if (shape.size() != 3)
    return emitOptionalError(location, "fftconv: x must be [batch, length, channels]");
  if (Value state = adaptor.getInitialState()) {
    int64_t before = shapeOf(state).size() == 3 ? shapeOf(state)[1] : 0;
    bool known = !ShapedType::isDynamic(before) && !ShapedType::isDynamic(shape[1]);
    shape[1] = known ? shape[1] + before : ShapedType::kDynamic;
  }
  types.push_back(tensorOf(shape, elementOf(adaptor.getX())));
  return success();
}

/// What the convolution and its gradient ask in common; `history` positions came before x.
template <typename Op> static LogicalResult verifyLongConv(Op op, int64_t history) {
  ArrayRef<int64_t> x = shapeOf(op.getX()), filter = shapeOf(op.getFilter());
  if (filter.size() != 2 || !compatible(filter[1], x[2])) // C2
    return op.emitOpError() << "filter is " << shapeText(filter) << ", but x has " << x[2]
                            << " channels: expected [taps, " << x[2] << "]";
  bool known = !ShapedType::isDynamic(filter[0]) && !ShapedType::isDynamic(x[1]) &&
               !ShapedType::isDynamic(history);
  if (known && filter[0] > x[1] + history) // C2
    return op.emitOpError() << "filter has " << filter[0] << " taps, but x only " << x[1] + history
                            << " positions: cut it to the length";
  if (op.getSkip() &&
      (shapeOf(op.getSkip()).size() != 1 || !compatible(shapeOf(op.getSkip())[0], x[2]))) // C3
    return op.emitOpError() << "skip is " << shapeText(shapeOf(op.getSkip())) << ", but x has "
                            << x[2] << " channels";
  for (Value gate : {op.getGateIn(), op.getGateOut()}) // C4
    if (gate && !compatibleShapes(shapeOf(gate), x))
      return op.emitOpError() << "gate is " << shapeText(shapeOf(gate)) << ", but x is "
                              << shapeText(x);
  return verifySegments(op, op.getSegments(), op.getX()); // C5
}

LogicalResult FFTConvOp::verify() {
  if (failed(verifySequence(*this, "x", getX()))) // C1
    return failure();
  ArrayRef<int64_t> x = shapeOf(getX());
  int64_t history = 0;
  if (Value state = getInitialState()) { // C6
    ArrayRef<int64_t> shape = shapeOf(state);
    if (shape.size() != 3 || !compatible(shape[0], x[0]) || !compatible(shape[2], x[2]))
      return emitOpError() << "initial_state is " << shapeText(shape) << ", but x is "
                           << shapeText(x) << ": expected [batch, positions, channels]";
    history = shape[1];
  }
  return verifyLongConv(*this, history);
}

LogicalResult FFTConvGradOp::verify() {
  if (failed(verifySequence(*this, "x", getX())) || failed(verifyLongConv(*this, 0))) // C1 to C5
    return failure();
  return verifyCotangent(*this, "cotangent", getCotangent(), "x", getX()); // C6
}

namespace {
/// fftconv with a history -> concat, fftconv, slice: a free-form filter has no finite state, so its
/// state is the history of its input and the op without state does all the work.
struct ExpandState : OpRewritePattern<FFTConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FFTConvOp conv, PatternRewriter &rewriter) const override {
    if (!conv.getInitialState() && !conv.getReturnState())
      return rewriter.notifyMatchFailure(conv, "no state");
    if (conv.getSegments())
      return rewriter.notifyMatchFailure(conv, "packed segments do not carry a state");
    auto type = cast<RankedTensorType>(conv.getX().getType());
    if (!type.hasStaticShape() ||
        (conv.getInitialState() &&
         !cast<RankedTensorType>(conv.getInitialState().getType()).hasStaticShape()))
      return rewriter.notifyMatchFailure(conv, "sizes are still free");
    Location loc = conv.getLoc();
    Value w = conv.getX();
    if (conv.getGateIn())
      w = BinaryOp::create(rewriter, loc, BinaryKind::Mul, w, conv.getGateIn());
    Value history = w;
    if (conv.getInitialState())
      history = ConcatOp::create(rewriter, loc, ValueRange{conv.getInitialState(), w}, 1);
    Value y = FFTConvOp::create(rewriter, loc, history, conv.getFilter(), conv.getSkip(), Value(),
                                Value(), Value(), Value(), false)
                  .getResult();
    int64_t before = shapeOf(history)[1] - type.getDimSize(1);
    if (before)
      y = SliceOp::create(rewriter, loc, y, rewriter.getDenseI64ArrayAttr({0, before, 0}),
                          shapeAttr(getContext(), type.getShape()));
    if (conv.getGateOut())
      y = BinaryOp::create(rewriter, loc, BinaryKind::Mul, y, conv.getGateOut());
    SmallVector<Value> results{y};
    if (conv.getReturnState())
      results.push_back(history);
    rewriter.replaceOp(conv, results);
    return success();
  }
};
} // namespace

void FFTConvOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ExpandState>(context);
}

LogicalResult FFTConvGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  types.push_back(adaptor.getFilter().getType());
  for (Value optional : {adaptor.getSkip(), adaptor.getGateIn(), adaptor.getGateOut()})
    if (optional)
      types.push_back(optional.getType());
  return success();
}

//===-- attention ------------------------------------------------------------===//

int64_t AttentionOp::getHeadSize() { return lastSize(getQ()) / static_cast<int64_t>(getHeads()); }

double AttentionOp::getSoftmaxScale() {
  double scale = getScale().convertToDouble();
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(getHeadSize()));
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> q = shapeOf(adaptor.getQ());
  if (q.size() != 3)
    return emitOptionalError(
        location, "attention: q must be [batch, length, heads * size], but is ", shapeText(q));
  types.push_back(adaptor.getQ().getType());
  types.push_back(
      tensorOf({q[0], static_cast<int64_t>(adaptor.getHeads()), q[1]}, elementOf(adaptor.getQ())));
  return success();
}

/// What attention and its gradient ask in common.
template <typename Op> static LogicalResult verifyAttention(Op op) {
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  if (heads < 1 || kvHeads < 1 || heads % kvHeads) // C2
    return op.emitOpError() << "kv_heads = " << kvHeads << " does not divide heads = " << heads;
  ArrayRef<int64_t> q = shapeOf(op.getQ()), k = shapeOf(op.getK()), v = shapeOf(op.getV());
  if (q.size() != 3 || q[2] % heads) // C1
    return op.emitOpError() << "q is " << shapeText(q)
                            << ", expected [batch, length, heads * size] with heads = " << heads;
  int64_t size = q[2] / heads;
  bool fits = k.size() == 3 && v.size() == 3 && k[2] == kvHeads * size && v[2] == kvHeads * size &&
              compatible(k[0], q[0]) && compatible(v[0], q[0]) && compatible(k[1], v[1]);
  if (!fits) // C1
    return op.emitOpError() << "k is " << shapeText(k) << " and v is " << shapeText(v)
                            << ", but q is " << shapeText(q) << ": expected [batch, positions, "
                            << kvHeads * size << "] (kv_heads * head size)";
  int64_t rotary = op.getRotaryDims();
  if (rotary < 0 || rotary % 2 || rotary > size) // C3
    return op.emitOpError() << "rotary_dims = " << rotary
                            << ", expected an even number up to the head size " << size;
  if (op.getSegments() && !compatible(q[1], k[1])) // C4
    return op.emitOpError() << "segments need as many queries as keys, but there are " << q[1]
                            << " and " << k[1];
  return verifySegments(op, op.getSegments(), op.getQ()); // C4
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyAttention(*this)))
    return failure();
  if (!getPastK() != !getPastV()) // C5
    return emitOpError() << "has past_" << (getPastK() ? "k" : "v") << " without past_"
                         << (getPastK() ? "v" : "k");
  if (getPastK() && getSegments()) // C4
    return emitOpError() << "has segments and a past: packed segments do not carry a state";
  if (getPastK()) { // C5
    ArrayRef<int64_t> k = shapeOf(getK()), pastK = shapeOf(getPastK()), pastV = shapeOf(getPastV());
    SmallVector<int64_t> expected{k[0], pastK.size() == 3 ? pastK[1] : ShapedType::kDynamic, k[2]};
    if (!compatibleShapes(pastK, expected) || !compatibleShapes(pastV, expected))
      return emitOpError() << "past_k is " << shapeText(pastK) << " and past_v is "
                           << shapeText(pastV) << ", but k is " << shapeText(k)
                           << ": expected [batch, positions, " << k[2] << "]";
  }
  if (static_cast<int64_t>(getWindow()) < -1) // C6
    return emitOpError() << "window = " << static_cast<int64_t>(getWindow())
                         << ", expected -1 (none) or a number of positions";
  return success();
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyAttention(*this)) ||
      failed(verifyCotangent(*this, "output", getOutput(), "q", getQ())) ||     // C5
      failed(verifyCotangent(*this, "cotangent", getCotangent(), "q", getQ()))) // C5
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ());
  SmallVector<int64_t> expected{q[0], static_cast<int64_t>(getHeads()), q[1]};
  if (!compatibleShapes(shapeOf(getLse()), expected)) // C6
    return emitOpError() << "lse is " << shapeText(shapeOf(getLse())) << ", expected "
                         << shapeText(expected) << " ([batch, heads, length])";
  return success();
}

namespace {
/// attention with past keys and values -> attention over their concatenation.
struct ExpandPast : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    if (!op.getPastK())
      return rewriter.notifyMatchFailure(op, "no past");
    Value k = ConcatOp::create(rewriter, op.getLoc(), ValueRange{op.getPastK(), op.getK()}, 1);
    Value v = ConcatOp::create(rewriter, op.getLoc(), ValueRange{op.getPastV(), op.getV()}, 1);
    rewriter.modifyOpInPlace(op, [&] {
      op.getKMutable().assign(k);
      op.getVMutable().assign(v);
      op.getPastKMutable().clear();
      op.getPastVMutable().clear();
    });
    return success();
  }
};
} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ExpandPast>(context);
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.append({adaptor.getQ().getType(), adaptor.getK().getType(), adaptor.getV().getType()});
  return success();
}
