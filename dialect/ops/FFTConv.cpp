//===- FFTConv.cpp - gated causal long convolution ------------------------===//
#include "dialect/CarriedState.h"
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(FFTConvOp) {
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
  return give(types, {tensorOf(shape, elementOf(adaptor.getX()))});
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
  if (failed(verifyPerChannel(op, "skip", op.getSkip(), op.getX()))) // C3
    return failure();
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
  if (getSegments() && (getInitialState() || getReturnState())) // C5
    return emitOpError() << "has segments and a state: carry the state or pack, not both";
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

HYBRID_INFER(FFTConvGradOp) {
  appendTypes({adaptor.getX(), adaptor.getFilter(), adaptor.getSkip(), adaptor.getGateIn(),
               adaptor.getGateOut()},
              types);
  return success();
}

HYBRID_VJP(FFTConvOp) {
  if (getInitialState() || getReturnState())
    return emitOpError() << "with a state must be canonicalised before it is differentiated";
  auto gradient = FFTConvGradOp::create(builder, getLoc(), getX(), getFilter(), getSkip(),
                                        getGateIn(), getGateOut(), getSegments(), cotangents[0]);
  appendInOrder(*this, gradient.getGradients(), gradients);
  return success();
}

template <typename Op> static int64_t convolutionFlops(Op op) {
  int64_t elements = elementCount(op.getX());
  double length = static_cast<double>(shapeOf(op.getX())[1]);
  double signals = static_cast<double>(elements) / length;
  int64_t around = (op.getSkip() ? 2 : 0) + (op.getGateIn() ? 1 : 0) + (op.getGateOut() ? 1 : 0);
  return static_cast<int64_t>(signals * 10 * length * std::log2(std::max(2.0, length))) +
         around * elements;
}
HYBRID_FLOPS(FFTConvOp, convolutionFlops(*this), "10·B·L·log2(L)·C + (2·skip + gates)·B·L·C")

HYBRID_FLOPS(FFTConvGradOp, 2 * convolutionFlops(*this),
             "20·B·L·log2(L)·C + (4·skip + 2·gates)·B·L·C")

/// Scalars a channel of the recurrence that the filter is the response of; 0 where it is free-form.
static int64_t recurrenceOf(Value filter) {
  while (Operation *op = filter.getDefiningOp()) {
    if (auto said = op->getAttrOfType<IntegerAttr>("hybrid.recurrence"))
      return said.getInt();
    if (auto recurrent = dyn_cast<RecurrentFilterOp>(op))
      return recurrent.getRecurrenceElements();
    if (!op->hasTrait<ViewOfOperand>())
      return 0;
    filter = op->getOperand(0);
  }
  return 0;
}

// The recurrence's state, or the inputs that the taps reach; a free-form filter as long as the
// sequence needs all of them.
int64_t FFTConvOp::getFixedStateElements() {
  const int64_t taps = shapeOf(getFilter())[0];
  if (int64_t recurrence = recurrenceOf(getFilter()))
    return recurrence * lastSize(getX());
  return taps < shapeOf(getX())[1] ? (taps - 1) * lastSize(getX()) : 0;
}
int64_t FFTConvOp::getDynamicStateElements() {
  const int64_t length = shapeOf(getX())[1];
  return recurrenceOf(getFilter()) || shapeOf(getFilter())[0] < length ? 0
                                                                       : length * lastSize(getX());
}

//===-- going on from inputs, or from a recurrence ------------------------------------------===//

namespace {
/// A filter h[t, c] = Σ_s Re((re + i im)[s, c] e^((decay + i angle)[s, c] t)); all are [S, C].
struct Modes {
  Value decay, angle, re, im;
};
} // namespace

/// The recurrence that a filter is the response of, behind views that leave its taps in their
/// order; null for other filters, and where taps are cut off.
static RecurrentFilterOp recurrentFilterOf(Value filter) {
  const int64_t taps = shapeOf(filter)[0];
  while (Operation *op = filter.getDefiningOp()) {
    if (auto recurrent = dyn_cast<RecurrentFilterOp>(op))
      return recurrent;
    if (!isa<SplitOp, SliceOp, ReshapeOp, BroadcastOp>(op) ||
        shapeOf(op->getOperand(0)).size() < 2 || shapeOf(op->getOperand(0))[0] != taps ||
        shapeOf(filter)[0] != taps || (isa<SplitOp>(op) && cast<SplitOp>(op).getAxis() == 0) ||
        (isa<BroadcastOp>(op) && shapeOf(filter).size() != shapeOf(op->getOperand(0)).size()))
      return nullptr;
    filter = op->getOperand(0);
  }
  return nullptr;
}

/// `parameter`, [S, C], taken apart as the filter's channels are.
static Value likeFilter(OpBuilder &builder, Value filter, RecurrentFilterOp recurrent,
                        Value parameter) {
  Operation *op = filter.getDefiningOp();
  if (op == recurrent)
    return parameter;
  Value x = likeFilter(builder, op->getOperand(0), recurrent, parameter);
  Location loc = op->getLoc();
  SmallVector<int64_t> shape(shapeOf(filter));
  shape[0] = shapeOf(parameter)[0];
  ArrayAttr sizes = shapeAttr(builder.getContext(), shape);
  if (auto split = dyn_cast<SplitOp>(op))
    return SplitOp::create(builder, loc, x, split.getAxis(), split.getSizes())
        .getParts()[cast<OpResult>(filter).getResultNumber()];
  if (auto slice = dyn_cast<SliceOp>(op))
    return SliceOp::create(builder, loc, x, slice.getStartsAttr(), sizes);
  if (isa<ReshapeOp>(op))
    return ReshapeOp::create(builder, loc, x, sizes);
  return BroadcastOp::create(builder, loc, x, sizes);
}

static Value convolve(ExpressionBuilder &e, Value x, Value filter) {
  return FFTConvOp::create(e.builder, e.loc, x, filter, Value(), Value(), Value(), Value(), Value(),
                           false)
      .getResult();
}

/// From the inputs that the taps reach.
static Value reread(ExpressionBuilder &e, FFTConvOp op, StateOfType stateOfType,
                    SmallVectorImpl<Value> &finalStates) {
  Value filter = op.getFilter();
  const int64_t before = shapeOf(filter)[0] - 1, length = shapeOf(op.getX())[1];
  if (before == 0)
    return e.mul(op.getX(), filter);
  Value whole = behindHistory(e, op.getX(), 1, before, stateOfType, finalStates);
  if (length == 1) // a product and a sum
    return e.reduce(ReduceKind::Sum, e.mul(whole, ReverseOp::create(e.builder, e.loc, filter, 0)),
                    {1}, true);
  return cutPositions(e, convolve(e, whole, filter), 1, before, length);
}

/// From s = Σ_j λ^(j - 1) w_-j, a complex number a mode: λ^(t + 1) s is what the response at t
/// has of them.
static Value recur(ExpressionBuilder &e, FFTConvOp op, StateOfType stateOfType,
                   SmallVectorImpl<Value> &finalStates) {
  Value x = op.getX(), filter = op.getFilter();
  const int64_t batch = shapeOf(x)[0], length = shapeOf(x)[1], channels = lastSize(x);
  RecurrentFilterOp recurrent = recurrentFilterOf(filter);
  auto of = [&](Value parameter) { return likeFilter(e.builder, filter, recurrent, parameter); };
  const SmallVector<Value> found = recurrent.getModes();
  const Modes modes{of(found[0]), of(found[1]), of(found[2]), of(found[3])};
  const int64_t states = shapeOf(modes.re)[0];
  Type element = elementOf(x);
  // e^((decay + i angle) t) for t = first, ..., [length, S, C].
  auto powers = [&](double first) {
    Value t = e.reshape(countFrom(e, first, length, element), {length, 1, 1});
    Value size = e.unary(UnaryKind::Exp, e.mul(t, modes.decay)), turn = e.mul(t, modes.angle);
    return std::pair(e.mul(size, e.unary(UnaryKind::Cos, turn)),
                     e.mul(size, e.unary(UnaryKind::Sin, turn)));
  };
  Value re = stateOfType(tensorOf({batch, 1, states, channels}, element)),
        im = stateOfType(tensorOf({batch, 1, states, channels}, element));
  // What the positions before add to the response.
  auto [pr, pi] = powers(1);
  Value ar = e.sub(e.mul(modes.re, pr), e.mul(modes.im, pi)),
        ai = e.add(e.mul(modes.re, pi), e.mul(modes.im, pr));
  Value rest = e.reduce(ReduceKind::Sum, e.sub(e.mul(ar, re), e.mul(ai, im)), {2});
  Value near = cutPositions(e, filter, 0, 0, length);
  Value own = length == 1 ? e.mul(x, near) : convolve(e, x, near);
  // λ^length s + Σ_j λ^(length - 1 - j) w_j.
  auto last = [&](Value table) { return cutPositions(e, table, 0, length - 1, 1); };
  auto [qr, qi] = powers(0);
  Value w = e.reshape(x, {batch, length, 1, channels});
  auto taken = [&](Value table) {
    Value backwards =
        length == 1 ? table : ReverseOp::create(e.builder, e.loc, table, 0).getResult();
    return e.reduce(ReduceKind::Sum, e.mul(w, backwards), {1}, true);
  };
  Value lr = last(pr), li = last(pi);
  finalStates.push_back(e.add(e.sub(e.mul(lr, re), e.mul(li, im)), taken(qr)));
  finalStates.push_back(e.add(e.add(e.mul(li, re), e.mul(lr, im)), taken(qi)));
  return e.add(own, rest);
}

int64_t FFTConvOp::getHeadCount() { return lastSize(getX()); }

/// Channels are the last dimension of all that has them.
int64_t FFTConvOp::getHeadDimension(unsigned operand) {
  Value x = getOperand(operand);
  return x == getSegments() ? -1 : std::ssize(shapeOf(x)) - 1;
}

int64_t FFTConvOp::getHeadDimensionOfResult(unsigned) { return 2; }

void FFTConvOp::takePartOfHeads(int64_t) {} // operands say how many there are

StringRef FFTConvOp::getObstacle(int64_t context) {
  if (getSegments())
    return "sequences are packed";
  const int64_t taps = shapeOf(getFilter())[0], length = shapeOf(getX())[1];
  const bool isWhole = recurrentFilterOf(getFilter()) ? taps >= std::max(context, length)
                                                      : context > 0 || taps < length;
  return getInitialState() || getReturnState() || getGateIn() || getGateOut() || !isWhole
             ? "its state is not one that a chunk can hand to the next"
             : "";
}

SmallVector<Value> FFTConvOp::buildCarried(OpBuilder &builder, int64_t, StateOfType stateOfType,
                                           SmallVectorImpl<Value> &finalStates) {
  ExpressionBuilder e{builder, getLoc()};
  Value y = recurrentFilterOf(getFilter()) ? recur(e, *this, stateOfType, finalStates)
                                           : reread(e, *this, stateOfType, finalStates);
  return {getSkip() ? e.add(y, e.mul(getX(), getSkip())) : y};
}
