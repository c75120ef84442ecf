//===- Attention.cpp - softmax attention of many heads --------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace hybrid;

int64_t AttentionOp::getHeadSize() { return lastSize(getQ()) / static_cast<int64_t>(getHeads()); }

double AttentionOp::getSoftmaxScale() {
  double scale = getScale().convertToDouble();
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(getHeadSize()));
}

HYBRID_INFER(AttentionOp) {
  ArrayRef<int64_t> q = shapeOf(adaptor.getQ());
  if (q.size() != 3)
    return emitOptionalError(
        location, "attention: q must be [batch, length, heads * size], but is ", shapeText(q));
  auto heads = static_cast<int64_t>(adaptor.getHeads());
  if (heads < 1) // C2
    return emitOptionalError(location, "attention: heads = ", heads, ", expected at least 1");
  return give(types,
              {adaptor.getQ().getType(), tensorOf({q[0], heads, q[1]}, elementOf(adaptor.getQ()))});
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
    if (!compatibleShapes(pastK, expected) || !compatibleShapes(pastV, expected))
      return emitOpError() << "past_k is " << shapeText(pastK) << " and past_v is "
                           << shapeText(pastV) << ", but k is " << shapeText(k)
                           << ": expected [batch, positions, " << k[2] << "]";
  }
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
  if (failed(verifyAttention(*this)) ||
      failed(verifyCotangent(*this, "output", getOutput(), "q", getQ())) ||     // C5
      failed(verifyCotangent(*this, "cotangent", getCotangent(), "q", getQ()))) // C5
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ());
  return verifyState(*this, "lse", getLse(), {q[0], static_cast<int64_t>(getHeads()), q[1]},
                     "[batch, heads, length]"); // C6
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

HYBRID_INFER(AttentionGradOp) {
  appendTypes({adaptor.getQ(), adaptor.getK(), adaptor.getV()}, types);
  return success();
}

HYBRID_VJP(AttentionOp) {
  if (getPastK())
    return emitOpError() << "with past keys must be canonicalised before it is differentiated";
  if (cotangents[1])
    return emitOpError() << "has no gradient through its softmax denominators";
  auto gradient = AttentionGradOp::create(
      builder, getLoc(), getQ(), getK(), getV(), getSegments(), getResult(), getLse(),
      cotangents[0], getHeads(), getKvHeads(), getCausal(), getWindow(), getRotaryDims(),
      getRotaryBase(), getRotaryInterleaved(), getXposBase(), llvm::APFloat(getSoftmaxScale()));
  appendInOrder(*this, gradient.getResults(), gradients);
  return success();
}

static int64_t attentionFlops(Value q, Value k, int64_t heads) {
  ArrayRef<int64_t> shape = shapeOf(q);
  int64_t batch = shape[0], length = shape[1], width = shape[2], keys = shapeOf(k)[1];
  return batch * (4 * length * keys * width + 2 * heads * length * keys);
}
HYBRID_FLOPS(AttentionOp, attentionFlops(getQ(), getK(), getHeads()),
             "B·(4·L²·D + 2·H·L²), no causal discount")
HYBRID_FLOPS(AttentionGradOp, 2 * attentionFlops(getQ(), getK(), getHeads()),
             "B·(8·L²·D + 4·H·L²), no causal discount")

// Keys and values; a window bounds them. The accessor of the attribute is unsigned.
static int64_t cachedElements(AttentionOp op, bool bounded) {
  auto window = static_cast<int64_t>(op.getWindow());
  if (bounded != (window >= 0))
    return 0;
  int64_t keys = shapeOf(op.getK())[1];
  return 2 * (bounded ? std::min(keys, window + 1) : keys) * lastSize(op.getK());
}
int64_t AttentionOp::getFixedStateElements() { return cachedElements(*this, true); }
int64_t AttentionOp::getDynamicStateElements() { return cachedElements(*this, false); }
