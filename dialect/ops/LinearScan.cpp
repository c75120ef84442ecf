//===- LinearScan.cpp - scan of a decayed outer-product state -------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"

using namespace mlir;
using namespace hybrid;

/// Size of a head among `channels`, which may still be free.
static int64_t perHead(int64_t channels, int64_t heads) {
  return ShapedType::isDynamic(channels) ? channels : channels / heads;
}
template <typename Op> static int64_t headSize(Op op, Value x) {
  return perHead(lastSize(x), static_cast<int64_t>(op.getHeads()));
}
int64_t LinearScanOp::getKeySize() { return headSize(*this, getQ()); }
int64_t LinearScanOp::getValueSize() { return headSize(*this, getV()); }
int64_t LinearScanGradOp::getKeySize() { return headSize(*this, getQ()); }
int64_t LinearScanGradOp::getValueSize() { return headSize(*this, getV()); }

Value LinearScanGradOp::getDdecay() {
  return getDecay() ? getOptionalGradients().front() : Value();
}

Value LinearScanGradOp::getDinitialState() {
  return getInitialState() ? getOptionalGradients().back() : Value();
}

HYBRID_INFER(LinearScanOp) {
  types.push_back(adaptor.getV().getType());
  if (!adaptor.getReturnState())
    return success();
  ArrayRef<int64_t> q = shapeOf(adaptor.getQ()), v = shapeOf(adaptor.getV());
  auto heads = static_cast<int64_t>(adaptor.getHeads());
  if (q.size() != 3 || v.size() != 3 || heads < 1)
    return emitOptionalError(location,
                             "linear_scan: q and v must be [batch, length, heads * size]");
  return give(types, {tensorOf({q[0], heads, perHead(q[2], heads), perHead(v[2], heads)},
                               elementOf(adaptor.getV()))});
}

HYBRID_INFER(LinearScanGradOp) {
  appendTypes({adaptor.getQ(), adaptor.getK(), adaptor.getV(), adaptor.getDecay(),
               adaptor.getInitialState()},
              types);
  return success();
}

/// C5: a state of the scan.
template <typename Op> static LogicalResult verifyScanState(Op op, StringRef name, Value state) {
  return verifyState(op, name, state,
                     {shapeOf(op.getQ())[0], static_cast<int64_t>(op.getHeads()), op.getKeySize(),
                      op.getValueSize()},
                     "[batch, heads, key size, value size]");
}

/// What the scan and its gradient ask in common.
template <typename Op> static LogicalResult verifyScan(Op op) {
  for (auto [name, value] : {std::pair("q", op.getQ()), {"k", op.getK()}, {"v", op.getV()}}) // C1
    if (failed(verifySequence(op, name, value)))
      return failure();
  ArrayRef<int64_t> q = shapeOf(op.getQ()), k = shapeOf(op.getK()), v = shapeOf(op.getV());
  if (!compatibleShapes(q, k)) // C1
    return op.emitOpError() << "k is " << shapeText(k) << ", but q is " << shapeText(q);
  if (!compatible(q[0], v[0]) || !compatible(q[1], v[1])) // C1
    return op.emitOpError() << "v is " << shapeText(v) << ", but q is " << shapeText(q)
                            << ": expected its batch and length";
  auto heads = static_cast<int64_t>(op.getHeads());
  if (heads < 1) // C2
    return op.emitOpError() << "heads = " << heads << ", expected at least 1";
  auto divided = [&](int64_t channels) {
    return ShapedType::isDynamic(channels) || channels % heads == 0;
  };
  if (!divided(q[2]) || !divided(v[2])) // C2
    return op.emitOpError() << "heads = " << heads << " does not divide the channels of q (" << q[2]
                            << ") and v (" << v[2] << ")";
  if (Value decay = op.getDecay()) { // C3
    ArrayRef<int64_t> shape = shapeOf(decay);
    bool sized = !shape.empty() && (shape.size() == 1 || shape.size() == 3) &&
                 (compatible(shape.back(), q[2]) || compatible(shape.back(), heads));
    if (!sized ||
        (shape.size() == 3 && (!compatible(shape[0], q[0]) || !compatible(shape[1], q[1]))))
      return op.emitOpError() << "decay is " << shapeText(shape) << ", but q is " << shapeText(q)
                              << " with " << heads
                              << " heads: expected [batch, length, channels], [batch, length, "
                                 "heads], [channels] or [heads]";
  }
  if (failed(verifySegments(op, op.getSegments(), op.getQ(), "q"))) // C4
    return failure();
  return verifyScanState(op, "initial_state", op.getInitialState()); // C5
}
LogicalResult LinearScanOp::verify() { return verifyScan(*this); }

LogicalResult LinearScanGradOp::verify() {
  if (failed(verifyScan(*this)) ||
      failed(verifyScanState(*this, "state_cotangent", getStateCotangent()))) // C5
    return failure();
  return verifyCotangent(*this, "cotangent", getCotangent(), "v", getV()); // C6
}

/// The recurrent count: decay, rank-1 update and read-out are a multiply-add each.
template <typename Op> static int64_t scanFlops(Op op) {
  ArrayRef<int64_t> q = shapeOf(op.getQ());
  return 6 * q[0] * q[1] * q[2] * op.getValueSize();
}
HYBRID_FLOPS(LinearScanOp, scanFlops(*this), "6·L·B·H·K·V (recurrent)")
HYBRID_FLOPS(LinearScanGradOp, 3 * scanFlops(*this), "18·L·B·H·K·V (recurrent; dq, dk and dv)")
int64_t LinearScanOp::getFixedStateElements() { return lastSize(getQ()) * getValueSize(); }

HYBRID_VJP(LinearScanOp) {
  auto gradient = LinearScanGradOp::create(
      builder, getLoc(), getQ(), getK(), getV(), getDecay(), getSegments(), getInitialState(),
      orZeros(builder, cotangents[0], getResult()), cotangents.size() > 1 ? cotangents[1] : Value(),
      getHeads(), getScale(), getExclusive());
  appendInOrder(*this, gradient.getResults(), gradients);
  return success();
}
