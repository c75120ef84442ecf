//===- Attention.cpp - softmax attention of many heads --------------------===//
#include "dialect/CarriedState.h"
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/ReverseMode.h"
#include "dialect/SequenceRules.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace hybrid;

int64_t AttentionOp::getHeadSize() { return lastSize(getQ()) / static_cast<int64_t>(getHeads()); }
int64_t AttentionOp::getValueSize() {
  return lastSize(getV()) / static_cast<int64_t>(getKvHeads());
}

double AttentionOp::getSoftmaxScale() {
  double scale = getScale().convertToDouble();
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(getHeadSize()));
}

HYBRID_INFER(AttentionOp) {
  ArrayRef<int64_t> q = shapeOf(adaptor.getQ());
  if (q.size() != 3)
    return emitOptionalError(
        location, "attention: q must be [batch, length, heads * size], but is ", shapeText(q));
  auto heads = static_cast<int64_t>(adaptor.getHeads()),
       kvHeads = static_cast<int64_t>(adaptor.getKvHeads());
  if (heads < 1) // C2
    return emitOptionalError(location, "attention: heads = ", heads, ", expected at least 1");
  if (kvHeads < 1 || heads % kvHeads) // C2
    return emitOptionalError(location, "attention: kv_heads = ", kvHeads,
                             " does not divide heads = ", heads);
  if (shapeOf(adaptor.getV()).empty() || lastSize(adaptor.getV()) % kvHeads) // C1
    return emitOptionalError(
        location, "attention: v is ", shapeText(shapeOf(adaptor.getV())),
        ", expected [batch, positions, kv_heads * size] with kv_heads = ", kvHeads);
  const int64_t width = lastSize(adaptor.getV()) / kvHeads * heads;
  Type element = elementOf(adaptor.getQ());
  return give(types,
              {tensorOf({q[0], q[1], width}, element), tensorOf({q[0], heads, q[1]}, element)});
}

//===-- the function of the score ---------------------------------------------------===//

/// Of the queries and of the keys, each (C8).
static constexpr int64_t mostTerms = 8;
/// Numbers that belong to the terms' tensor; it may not have been verified.
static int64_t termsOf(Value terms) {
  return terms && shapeOf(terms).size() == 4 ? std::clamp<int64_t>(shapeOf(terms)[1], 0, mostTerms)
                                             : 0;
}

/// Arguments of the score: the product, two positions, the head, and the terms.
template <typename Op> static SmallVector<Type> scoreArguments(Op op) {
  const int64_t count = 4 + termsOf(op.getQueryTerms()) + termsOf(op.getKeyTerms());
  return SmallVector<Type>(count, tensorOf({}, elementOf(op.getQ())));
}
SmallVector<Type> AttentionOp::getBodyArgumentTypes() { return scoreArguments(*this); }
SmallVector<Type> AttentionGradOp::getBodyArgumentTypes() { return scoreArguments(*this); }
SmallVector<Type> AttentionOp::getBodyResultTypes() { return {tensorOf({}, elementOf(getQ()))}; }
SmallVector<Type> AttentionGradOp::getBodyResultTypes() {
  return {tensorOf({}, elementOf(getQ()))};
}

static LogicalResult verifyScalars(Operation *op, Region &body) {
  for (Operation &inner : body.front().without_terminator())
    if (!inner.hasTrait<FusableElementwise>() && !isa<ConstantOp>(inner)) { // C9
      InFlightDiagnostic diagnostic = op->emitOpError()
                                      << "score holds '" << inner.getName()
                                      << "', expected elementwise ops and constants only";
      diagnostic.attachNote(inner.getLoc()) << "the op is here";
      return diagnostic;
    }
  return success();
}

template <typename Op> static LogicalResult verifyScore(Op op, int64_t keys) {
  ArrayRef<int64_t> q = shapeOf(op.getQ());
  auto verifyTerms = [&](StringRef name, Value terms, int64_t rows) -> LogicalResult {
    if (!terms)
      return success();
    ArrayRef<int64_t> shape = shapeOf(terms);
    SmallVector<int64_t> expected{q[0], shape.size() == 4 ? shape[1] : 1,
                                  static_cast<int64_t>(op.getHeads()), rows};
    if (!compatibleShapes(shape, expected) || shape[1] < 1 || shape[1] > mostTerms) // C8
      return op.emitOpError() << name << " is " << shapeText(shape)
                              << ", expected [batch, terms, heads, positions] = "
                              << shapeText(expected) << " with 1 to " << mostTerms << " terms";
    if (op.getScore().empty()) // C8
      return op.emitOpError() << "has " << name << " but no score to read them";
    return success();
  };
  if (failed(verifyTerms("query_terms", op.getQueryTerms(), q[1])) ||
      failed(verifyTerms("key_terms", op.getKeyTerms(), keys)))
    return failure();
  return op.getScore().empty() ? success() : verifyScalars(op, op.getScore());
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
  bool fits = k.size() == 3 && v.size() == 3 && k[2] == kvHeads * size && v[2] % kvHeads == 0 &&
              compatible(k[0], q[0]) && compatible(v[0], q[0]) && compatible(k[1], v[1]);
  if (!fits) // C1
    return op.emitOpError() << "k is " << shapeText(k) << " and v is " << shapeText(v)
                            << ", but q is " << shapeText(q) << ": expected [batch, positions, "
                            << kvHeads * size
                            << "] (kv_heads * head size) for k, and for v as many positions of "
                               "kv_heads * any size";
  int64_t rotary = op.getRotaryDims();
  if (rotary < 0 || rotary % 2 || rotary > size) // C3
    return op.emitOpError() << "rotary_dims = " << rotary
                            << ", expected an even number up to the head size " << size;
  if (op.getSegments() && !compatible(q[1], k[1])) // C4
    return op.emitOpError() << "segments need as many queries as keys, but there are " << q[1]
                            << " and " << k[1];
  return verifySegments(op, op.getSegments(), op.getQ(), "q"); // C4
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
    SmallVector<int64_t> expectedV{expected[0], expected[1], lastSize(getV())};
    if (!compatibleShapes(pastK, expected) || !compatibleShapes(pastV, expectedV))
      return emitOpError() << "past_k is " << shapeText(pastK) << " and past_v is "
                           << shapeText(pastV) << ", but k is " << shapeText(k) << " and v is "
                           << shapeText(shapeOf(getV())) << ": expected [batch, positions, " << k[2]
                           << "] and [batch, positions, " << expectedV[2] << "]";
  }
  const int64_t own = shapeOf(getK())[1], before = getPastK() ? shapeOf(getPastK())[1] : 0;
  const bool isFree = ShapedType::isDynamic(own) || ShapedType::isDynamic(before);
  if (failed(verifyScore(*this, isFree ? ShapedType::kDynamic : own + before)))
    return failure();
  if (static_cast<int64_t>(getWindow()) < -1) // C6
    return emitOpError() << "window = " << static_cast<int64_t>(getWindow())
                         << ", expected -1 (none) or a number of positions";
  if (!(getRotaryBase().convertToDouble() > 0)) // C7
    return emitOpError() << "rotary_base = " << numberText(getRotaryBase())
                         << ", expected a number above 0";
  if (!(getXposBase().convertToDouble() >= 0)) // C7
    return emitOpError() << "xpos_base = " << numberText(getXposBase())
                         << ", expected 0 (none) or a number above it";
  return success();
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyAttention(*this)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ());
  const auto heads = static_cast<int64_t>(getHeads()), kvHeads = static_cast<int64_t>(getKvHeads());
  SmallVector<int64_t> result{q[0], q[1], lastSize(getV()) / kvHeads * heads};
  if (failed(verifyState(*this, "output", getOutput(), result, "[batch, length, heads * size]")) ||
      failed(verifyState(*this, "cotangent", getCotangent(), result,
                         "[batch, length, heads * size]"))) // C5
    return failure();
  SmallVector<int64_t> rows{q[0], heads, q[1]};
  if (failed(verifyState(*this, "lse", getLse(), rows, "[batch, heads, length]")) ||
      failed(verifyState(*this, "lse_cotangent", getLseCotangent(), rows,
                         "[batch, heads, length]"))) // C6
    return failure();
  if (failed(verifyScore(*this, shapeOf(getK())[1])))
    return failure();
  if (getScore().empty() != getScoreGradient().empty()) // C10
    return emitOpError() << "has score" << (getScore().empty() ? "_gradient" : "")
                         << " without score" << (getScore().empty() ? "" : "_gradient");
  if (getScore().empty())
    return success();
  const size_t arguments = getBodyArgumentTypes().size() + 1, yielded = arguments - 4;
  Block &body = getScoreGradient().front();
  auto yield = body.empty() ? nullptr : dyn_cast<YieldOp>(body.back());
  if (body.getNumArguments() != arguments || !yield || yield->getNumOperands() != yielded) // C10
    return emitOpError() << "score_gradient takes " << body.getNumArguments()
                         << " numbers and yields " << (yield ? yield->getNumOperands() : 0)
                         << ", expected " << arguments << " and " << yielded;
  return verifyScalars(*this, getScoreGradient());
}

namespace {
/// attention with past keys and values -> attention over their concatenation. Rings are read where
/// they lie.
struct ExpandPast : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    if (!op.getPastK() || countOfRing(op.getPastK()))
      return rewriter.notifyMatchFailure(op, "no past, or one that stays where it is");
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

HYBRID_INFER(AttentionGradOp) {
  appendTypes({adaptor.getQ(), adaptor.getK(), adaptor.getV()}, types);
  for (Value terms : {adaptor.getQueryTerms(), adaptor.getKeyTerms()})
    if (terms)
      types.push_back(terms.getType());
  return success();
}

/// The region of f' dF: `score` with dF as one more argument, differentiated.
static LogicalResult differentiateScore(Region &score, Region &gradient) {
  IRMapping mapping;
  score.cloneInto(&gradient, mapping);
  Block &body = gradient.front();
  auto yield = cast<YieldOp>(body.getTerminator());
  SmallVector<Operation *> forward;
  for (Operation &op : body.without_terminator())
    forward.push_back(&op);
  OpBuilder builder(yield);
  ReverseMode reverse(builder);
  SmallVector<Value> wanted{body.getArgument(0)};
  for (BlockArgument argument : body.getArguments().drop_front(4))
    wanted.push_back(argument);
  for (Value value : wanted)
    reverse.require(value);
  Value logit = yield.getOperand(0);
  reverse.accumulate(logit, body.addArgument(logit.getType(), logit.getLoc()), logit.getLoc());
  if (failed(reverse.run(forward)))
    return failure();
  SmallVector<Value> gradients;
  for (Value value : wanted)
    gradients.push_back(reverse.gradientOf(value));
  yield->setOperands(gradients);
  return success();
}

HYBRID_VJP(AttentionOp) {
  if (getPastK())
    return emitOpError() << "with past keys must be canonicalised before it is differentiated";
  auto gradient = AttentionGradOp::create(
      builder, getLoc(), getQ(), getK(), getV(), getSegments(), getResult(), getLse(),
      orZeros(builder, cotangents[0], getResult()), cotangents[1], getQueryTerms(), getKeyTerms(),
      getHeads(), getKvHeads(), getCausal(), getWindow(), getRotaryDims(), getRotaryBase(),
      getRotaryInterleaved(), getXposBase(), llvm::APFloat(getSoftmaxScale()));
  if (!getScore().empty()) {
    IRMapping mapping;
    getScore().cloneInto(&gradient.getScore(), mapping);
    if (failed(differentiateScore(getScore(), gradient.getScoreGradient())))
      return failure();
  }
  appendInOrder(*this, gradient.getResults(), gradients);
  return success();
}

/// Of the past and of the op's own positions.
static int64_t keysOf(AttentionOp op) {
  return shapeOf(op.getK())[1] + (op.getPastK() ? shapeOf(op.getPastK())[1] : 0);
}

/// Scores and weighted values; `width` of a query and its result, and the ops of the score.
static int64_t attentionFlops(Value q, int64_t keys, int64_t width, int64_t heads,
                              ArrayRef<Region *> scores) {
  ArrayRef<int64_t> shape = shapeOf(q);
  int64_t batch = shape[0], length = shape[1], perScore = 2;
  for (Region *score : scores)
    if (!score->empty())
      perScore += llvm::count_if(score->front().without_terminator(),
                                 [](Operation &op) { return !isa<ConstantOp>(op); });
  return batch * length * keys * (2 * width + perScore * heads);
}
HYBRID_FLOPS(AttentionOp,
             attentionFlops(getQ(), keysOf(*this), lastSize(getQ()) + lastSize(getResult()),
                            getHeads(), {&getScore()}),
             "B·(2·L²·H·(M + V) + 2·H·L²), no causal discount")
HYBRID_FLOPS(AttentionGradOp,
             2 * attentionFlops(getQ(), shapeOf(getK())[1],
                                lastSize(getQ()) + lastSize(getOutput()), getHeads(),
                                {&getScore(), &getScoreGradient()}),
             "B·(4·L²·H·(M + V) + 4·H·L²), no causal discount")

// Keys, values and the terms of keys; a window bounds them. The accessor of the attribute is
// unsigned.
static int64_t cachedElements(AttentionOp op, bool bounded) {
  auto window = static_cast<int64_t>(op.getWindow());
  if (bounded != (window >= 0))
    return 0;
  int64_t keys = shapeOf(op.getK())[1];
  int64_t ofKey = lastSize(op.getK()) + lastSize(op.getV()) +
                  termsOf(op.getKeyTerms()) * static_cast<int64_t>(op.getHeads());
  return (bounded ? std::min(keys, window + 1) : keys) * ofKey;
}
int64_t AttentionOp::getFixedStateElements() { return cachedElements(*this, true); }
int64_t AttentionOp::getDynamicStateElements() { return cachedElements(*this, false); }

//===-- positions --------------------------------------------------------------------===//

SequenceUse AttentionOp::getSequenceUse(unsigned operand, int64_t axis, unsigned result) {
  auto isOf = [&](MutableOperandRange terms) {
    return !terms.empty() && terms[0].getOperandNumber() == operand;
  };
  const bool ofQuery = isOf(getQueryTermsMutable()), ofKey = isOf(getKeyTermsMutable());
  if (axis != (ofQuery || ofKey ? 3 : 1))
    return SequenceUse::unknown("the sequence is not where its positions are");
  const int64_t place = result ? 2 : 1;
  if (operand == 0 || ofQuery)
    return SequenceUse::same(place);
  return getCausal() ? SequenceUse::past(place, shapeOf(getK())[1] - shapeOf(getQ())[1])
                     : SequenceUse::all("each position sees all, the later ones too");
}

//===-- some heads alone ---------------------------------------------------------------===//

int64_t AttentionOp::getHeadCount() { return static_cast<int64_t>(getKvHeads()); }

int64_t AttentionOp::getHeadDimension(unsigned operand) {
  Value x = getOperand(operand);
  return x == getSegments() ? -1 : 2; // heads are the third dimension of terms, too
}

int64_t AttentionOp::getHeadDimensionOfResult(unsigned result) { return result ? 1 : 2; }

StringRef AttentionOp::getHeadObstacle() {
  return !getScore().empty() && !getScore().front().getArgument(3).use_empty()
             ? "its score asks for the number of the head"
             : "";
}

void AttentionOp::takePartOfHeads(int64_t parts) {
  setHeads(getHeads() / static_cast<uint64_t>(parts));
  setKvHeads(getKvHeads() / static_cast<uint64_t>(parts));
}

//===-- going on from a cache ----------------------------------------------------------===//

/// How many positions a query sees behind its own.
static int64_t reachOf(AttentionOp op, int64_t context) {
  const auto window = static_cast<int64_t>(op.getWindow());
  return window >= 0 ? window : context - 1;
}

/// Whether a score asks where in the sequence a query or key lies.
static bool readsPositions(AttentionOp op) {
  return !op.getScore().empty() && (!op.getScore().front().getArgument(1).use_empty() ||
                                    !op.getScore().front().getArgument(2).use_empty());
}

/// Gives the score a term of the keys that is added to the logit, and with `shifts` one of the
/// queries that is added to positions.
static void addTerms(AttentionOp op, bool shifts, ExpressionBuilder &outer) {
  Type number = tensorOf({}, elementOf(op.getQ()));
  Region &score = op.getScore();
  OpBuilder builder(op.getContext());
  ExpressionBuilder e{builder, outer.loc};
  if (score.empty()) {
    Block *body = builder.createBlock(&score, {}, SmallVector<Type>(4, number),
                                      SmallVector<Location>(4, e.loc));
    YieldOp::create(builder, e.loc, ValueRange{body->getArgument(0)});
  }
  Block &body = score.front();
  if (shifts) {
    const auto at = static_cast<unsigned>(4 + termsOf(op.getQueryTerms()));
    Value shift = body.insertArgument(at, number, e.loc);
    builder.setInsertionPointToStart(&body);
    for (unsigned i : {1u, 2u}) {
      Value position = body.getArgument(i), moved = e.add(position, shift);
      position.replaceAllUsesExcept(moved, moved.getDefiningOp());
    }
  }
  Value hidden = body.addArgument(number, e.loc);
  Operation *yield = body.getTerminator();
  builder.setInsertionPoint(yield);
  yield->setOperand(0, e.add(yield->getOperand(0), hidden));
}

/// Whether the past lies in rings: where states are this program's own.
static bool hasRings(AttentionOp op, int64_t context) {
  return context > 0 && !op->getParentOfType<ModuleOp>()->hasAttr(wholeStatesAttribute);
}

StringRef AttentionOp::getObstacle(int64_t context) {
  if (!getCausal())
    return "each position sees all, the later ones too";
  if (getSegments())
    return "sequences are packed";
  if (!hasRings(*this, context) &&
      (termsOf(getKeyTerms()) == mostTerms || termsOf(getQueryTerms()) == mostTerms))
    return "its score has as many terms as there may be, and would need one more";
  return getPastK() || shapeOf(getK())[1] != shapeOf(getQ())[1]
             ? "its state is not one that a chunk can hand to the next"
             : "";
}

/// Keys and values of a decoded sequence lie in rings, and are read there.
static SmallVector<Value> behindRings(AttentionOp op, OpBuilder &builder, int64_t before,
                                      StateOfType stateOfType,
                                      SmallVectorImpl<Value> &finalStates) {
  ExpressionBuilder e{builder, op.getLoc()};
  const int64_t batch = shapeOf(op.getQ())[0], length = shapeOf(op.getQ())[1];
  auto whole = cast<AttentionOp>(builder.clone(*op.getOperation()));
  builder.setInsertionPoint(whole);
  SmallVector<Value> rings;
  for (Value x : {op.getK(), op.getV()}) {
    rings.push_back(stateOfType(tensorOf({batch, before, lastSize(x)}, elementOf(x))));
    finalStates.push_back(x);
  }
  if (Value terms = op.getKeyTerms()) // few numbers a key, which are moved
    whole.getKeyTermsMutable().assign(behindHistory(e, terms, 3, before, stateOfType, finalStates));
  Value seen = stateOfType(tensorOf({batch}, elementOf(op.getQ())));
  finalStates.push_back(e.add(seen, static_cast<double>(length)));
  for (Value ring : rings)
    makeRing(ring, seen);
  whole.getPastKMutable().assign(rings[0]);
  whole.getPastVMutable().assign(rings[1]);
  whole.setWindow(static_cast<uint64_t>(before));
  return whole->getResults();
}

/// A state that is whole moves with the sequence: the newest position is always the last. Keys
/// before the start are then hidden by the score: a term of the keys that is far below any logit
/// there, and 0 elsewhere. A state counts the positions of each sequence, for that and for a score
/// that reads them.
SmallVector<Value> AttentionOp::buildCarried(OpBuilder &builder, int64_t context,
                                             StateOfType stateOfType,
                                             SmallVectorImpl<Value> &finalStates) {
  const int64_t before = reachOf(*this, context);
  if (before == 0)
    return builder.clone(*getOperation())->getResults();
  if (hasRings(*this, context))
    return behindRings(*this, builder, before, stateOfType, finalStates);
  ExpressionBuilder e{builder, getLoc()};
  const int64_t batch = shapeOf(getQ())[0], length = shapeOf(getQ())[1];
  const auto heads = static_cast<int64_t>(getHeads());
  Type element = elementOf(getQ());
  auto history = [&](Value x, int64_t axis) {
    return behindHistory(e, x, axis, before, stateOfType, finalStates);
  };
  auto withTerm = [&](Value terms, Value term, int64_t positions) -> Value {
    Value repeated = e.broadcast(term, {batch, 1, heads, positions});
    return terms ? ConcatOp::create(builder, e.loc, ValueRange{terms, repeated}, 1).getResult()
                 : repeated;
  };
  auto whole = cast<AttentionOp>(builder.clone(*getOperation()));
  builder.setInsertionPoint(whole);
  Value k = history(getK(), 1), v = history(getV(), 1),
        keyTerms = getKeyTerms() ? history(getKeyTerms(), 3) : Value();
  Value seen = stateOfType(tensorOf({batch}, element)); // positions so far
  finalStates.push_back(e.add(seen, static_cast<double>(length)));
  Value ofRow = e.reshape(seen, {batch, 1, 1, 1});
  Value place =
      e.add(ofRow, countFrom(e, 0.5 - static_cast<double>(before), before + length, element));
  Value hidden = e.mul(e.binary(BinaryKind::Less, place, e.constant(0, place)), -1e30);
  const bool shifts = readsPositions(*this);
  addTerms(whole, shifts, e);
  whole.getKMutable().assign(k);
  whole.getVMutable().assign(v);
  whole.getKeyTermsMutable().assign(withTerm(keyTerms, hidden, before + length));
  if (shifts) {
    Value shift = e.add(ofRow, -static_cast<double>(before));
    whole.getQueryTermsMutable().assign(withTerm(getQueryTerms(), shift, length));
  }
  whole.setWindow(static_cast<uint64_t>(before));
  return whole->getResults();
}
