//===- ExponentialMovingAverage.cpp - an average that forgets -------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"

using namespace mlir;
using namespace hybrid;

/// C4: a state is one value a sequence and channel.
template <typename Op> static LogicalResult verifyAverageState(Op op, StringRef name, Value state) {
  ArrayRef<int64_t> x = shapeOf(op.getX());
  return verifyState(op, name, state, {x[0], x[2]}, "[batch, channels]");
}

/// What the average and its gradient ask in common.
template <typename Op> static LogicalResult verifyAverage(Op op) {
  if (failed(verifySequence(op, "x", op.getX())) ||                      // C1
      failed(verifyPerChannel(op, "decay", op.getDecay(), op.getX())) || // C2
      failed(verifySegments(op, op.getSegments(), op.getX())))           // C3
    return failure();
  return verifyAverageState(op, "initial_state", op.getInitialState()); // C4
}

LogicalResult ExponentialMovingAverageOp::verify() { return verifyAverage(*this); }

HYBRID_INFER(ExponentialMovingAverageOp) {
  types.push_back(adaptor.getX().getType());
  if (!adaptor.getReturnState())
    return success();
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  if (x.size() != 3)
    return emitOptionalError(location,
                             "exponential_moving_average: x must be [batch, length, channels]");
  types.push_back(tensorOf({x[0], x[2]}, elementOf(adaptor.getX())));
  return success();
}

LogicalResult ExponentialMovingAverageGradOp::verify() {
  if (failed(verifyAverage(*this)) ||
      failed(verifyAverageState(*this, "state_cotangent", getStateCotangent())) || // C4
      failed(verifyCotangent(*this, "output", getOutput(), "x", getX())))          // C5
    return failure();
  return verifyCotangent(*this, "cotangent", getCotangent(), "x", getX()); // C5
}

HYBRID_INFER(ExponentialMovingAverageGradOp) {
  appendTypes({adaptor.getX(), adaptor.getDecay(), adaptor.getInitialState()}, types);
  return success();
}

HYBRID_VJP(ExponentialMovingAverageOp) {
  auto gradient = ExponentialMovingAverageGradOp::create(
      builder, getLoc(), getX(), getDecay(), getSegments(), getInitialState(), getResult(),
      orZeros(builder, cotangents[0], getResult()),
      cotangents.size() > 1 ? cotangents[1] : Value());
  appendInOrder(*this, gradient.getResults(), gradients);
  return success();
}

// Two products and a sum an element; on the way back a sum for g, two products with it, and a
// difference and a multiply-add for the decay.
HYBRID_FLOPS(ExponentialMovingAverageOp, 3 * elementCount(getX()), "3·B·L·D")
HYBRID_FLOPS(ExponentialMovingAverageGradOp, 6 * elementCount(getX()), "6·B·L·D")

int64_t ExponentialMovingAverageOp::getFixedStateElements() { return lastSize(getX()); }
