//===- LinearScan.cpp - scan of a decayed outer-product state -------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/HeadRules.h"

using namespace mlir;
using namespace hybrid;

template <typename Op> static int64_t headSize(Op op, Value x) {
  return partOf(lastSize(x), static_cast<int64_t>(op.getHeads()));
}
int64_t LinearScanOp::getKeySize() { return headSize(*this, getQ()); }
int64_t LinearScanOp::getValueSize() { return headSize(*this, getV()); }
int64_t LinearScanGradOp::getKeySize() { return headSize(*this, getQ()); }
int64_t LinearScanGradOp::getValueSize() { return headSize(*this, getV()); }

/// The gradient of the decay is made of dq.
bool LinearScanGradOp::isReadInFull(unsigned number) { return number == 0 && getDecay(); }

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
  return give(types, {tensorOf({q[0], heads, partOf(q[2], heads), partOf(v[2], heads)},
                               elementOf(adaptor.getV()))});
}

HYBRID_INFER(LinearScanGradOp) {
  appendTypes({adaptor.getQ(), adaptor.getK(), adaptor.getV(), adaptor.getDecay(),
               adaptor.getInitialState()},
              types);
  return success();
}

/// What the scan and its gradient ask in common.
template <typename Op> static LogicalResult verifyScan(Op op) {
  for (auto [name, value] : {std::pair("q", op.getQ()), {"k", op.getK()}, {"v", op.getV()}}) // C1
    if (failed(verifySequence(op, name, value)))
      return failure();
  ArrayRef<int64_t> q = shapeOf(op.getQ()), k = shapeOf(op.getK()), v = shapeOf(op.getV());
  if (!compatibleShapes(q, k)) // C1
    return op.emitOpError() << "k is " << shapeText(k) << ", but q is " << shapeText(q);
  if (failed(verifyValues(op))) // C1
    return failure();
  auto heads = static_cast<int64_t>(op.getHeads());
  if (heads < 1) // C2
    return op.emitOpError() << "heads = " << heads << ", expected at least 1";
  if (!isDivided(q[2], heads) || !isDivided(v[2], heads)) // C2
    return op.emitOpError() << "heads = " << heads << " does not divide the channels of q (" << q[2]
                            << ") and v (" << v[2] << ")";
  return verifyDecayAndStates(op, true); // C3 to C5
}
LogicalResult LinearScanOp::verify() { return verifyScan(*this); }

LogicalResult LinearScanGradOp::verify() {
  if (failed(verifyScan(*this)))
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
