//===- DeltaRule.cpp - scan of a state that erases before it writes -------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"

using namespace mlir;
using namespace hybrid;

/// `channels` in equal parts, which may still be free.
static int64_t partOf(int64_t channels, int64_t parts) {
  return ShapedType::isDynamic(channels) ? channels : channels / parts;
}
template <typename Op> static int64_t keySize(Op op) {
  return partOf(lastSize(op.getQ()), static_cast<int64_t>(op.getHeads()));
}
template <typename Op> static int64_t valueSize(Op op) {
  return partOf(lastSize(op.getV()), static_cast<int64_t>(op.getHeads() * op.getSteps()));
}
int64_t DeltaRuleOp::getKeySize() { return keySize(*this); }
int64_t DeltaRuleOp::getValueSize() { return valueSize(*this); }
int64_t DeltaRuleGradOp::getKeySize() { return keySize(*this); }
int64_t DeltaRuleGradOp::getValueSize() { return valueSize(*this); }

Value DeltaRuleGradOp::getDb() { return getB() ? getOptionalGradients().front() : Value(); }

Value DeltaRuleGradOp::getDdecay() {
  return getDecay() ? getOptionalGradients()[getB() ? 1 : 0] : Value();
}

Value DeltaRuleGradOp::getDinitialState() {
  return getInitialState() ? getOptionalGradients().back() : Value();
}

HYBRID_INFER(DeltaRuleOp) {
  ArrayRef<int64_t> q = shapeOf(adaptor.getQ()), v = shapeOf(adaptor.getV());
  auto heads = static_cast<int64_t>(adaptor.getHeads()),
       steps = static_cast<int64_t>(adaptor.getSteps());
  if (q.size() != 3 || v.size() != 3 || heads < 1 || steps < 1)
    return emitOptionalError(location, "delta_rule: q and v must be [batch, length, heads * size] "
                                       "with at least one head and one step");
  types.push_back(tensorOf({v[0], v[1], partOf(v[2], steps)}, elementOf(adaptor.getV())));
  if (!adaptor.getReturnState())
    return success();
  return give(types, {tensorOf({q[0], heads, partOf(q[2], heads), partOf(v[2], heads * steps)},
                               elementOf(adaptor.getV()))});
}

HYBRID_INFER(DeltaRuleGradOp) {
  appendTypes({adaptor.getQ(), adaptor.getK(), adaptor.getV(), adaptor.getA(), adaptor.getB(),
               adaptor.getDecay(), adaptor.getInitialState()},
              types);
  return success();
}

/// C5: a state of the scan.
template <typename Op> static LogicalResult verifyRuleState(Op op, StringRef name, Value state) {
  return verifyState(op, name, state,
                     {shapeOf(op.getQ())[0], static_cast<int64_t>(op.getHeads()), op.getKeySize(),
                      op.getValueSize()},
                     "[batch, heads, key size, value size]");
}

/// What the rule and its gradient ask in common.
template <typename Op> static LogicalResult verifyRule(Op op) {
  auto heads = static_cast<int64_t>(op.getHeads()), steps = static_cast<int64_t>(op.getSteps());
  if (heads < 1) // C2
    return op.emitOpError() << "heads = " << heads << ", expected at least 1";
  if (steps < 1) // C2
    return op.emitOpError() << "steps = " << steps << ", expected at least 1";
  const std::pair<StringRef, Value> sequences[] = {
      {"q", op.getQ()}, {"k", op.getK()}, {"v", op.getV()}, {"a", op.getA()}, {"b", op.getB()}};
  for (auto [name, value] : sequences) // C1
    if (value && failed(verifySequence(op, name, value)))
      return failure();
  ArrayRef<int64_t> q = shapeOf(op.getQ()), v = shapeOf(op.getV());
  const int64_t keys = ShapedType::isDynamic(q[2]) ? q[2] : q[2] * steps;
  for (auto [name, value] : sequences) // C1
    if (value && name != "q" && name != "v" &&
        !compatibleShapes({q[0], q[1], keys}, shapeOf(value)))
      return op.emitOpError() << name << " is " << shapeText(shapeOf(value)) << ", but q is "
                              << shapeText(q) << " with " << steps << " steps: expected "
                              << shapeText({q[0], q[1], keys});
  if (!compatible(q[0], v[0]) || !compatible(q[1], v[1])) // C1
    return op.emitOpError() << "v is " << shapeText(v) << ", but q is " << shapeText(q)
                            << ": expected its batch and length";
  auto divides = [](int64_t parts, int64_t channels) {
    return ShapedType::isDynamic(channels) || channels % parts == 0;
  };
  if (!divides(heads, q[2])) // C2
    return op.emitOpError() << "heads = " << heads << " does not divide the channels of q (" << q[2]
                            << ")";
  if (!divides(heads * steps, v[2])) // C2
    return op.emitOpError() << "heads = " << heads << " times steps = " << steps
                            << " does not divide the channels of v (" << v[2] << ")";
  if (Value decay = op.getDecay()) { // C3
    ArrayRef<int64_t> shape = shapeOf(decay);
    if (shape.size() != 3 || !compatible(shape[0], q[0]) || !compatible(shape[1], q[1]) ||
        (!compatible(shape[2], q[2]) && !compatible(shape[2], heads)))
      return op.emitOpError() << "decay is " << shapeText(shape) << ", but q is " << shapeText(q)
                              << " with " << heads
                              << " heads: expected [batch, length, channels] or [batch, length, "
                                 "heads]";
  }
  if (failed(verifySegments(op, op.getSegments(), op.getQ(), "q"))) // C4
    return failure();
  return verifyRuleState(op, "initial_state", op.getInitialState()); // C5
}
LogicalResult DeltaRuleOp::verify() { return verifyRule(*this); }

LogicalResult DeltaRuleGradOp::verify() {
  if (failed(verifyRule(*this)) ||
      failed(verifyRuleState(*this, "state_cotangent", getStateCotangent()))) // C5
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ()), cotangent = shapeOf(getCotangent());
  SmallVector<int64_t> expected{q[0], q[1],
                                partOf(lastSize(getV()), static_cast<int64_t>(getSteps()))};
  if (!compatibleShapes(cotangent, expected)) // C6
    return emitOpError() << "cotangent is " << shapeText(cotangent) << ", expected "
                         << shapeText(expected) << ", as the result";
  return success();
}

/// The recurrent count of `aToken` operations an element of the state and token, and `aStep` a step
/// of it.
template <typename Op> static int64_t ruleFlops(Op op, int64_t aToken, int64_t aStep) {
  ArrayRef<int64_t> q = shapeOf(op.getQ());
  return q[0] * q[1] * q[2] * op.getValueSize() *
         (aToken + static_cast<int64_t>(op.getSteps()) * aStep);
}
// Forward: the read-out and the decay of a token; reading with a and writing once or twice a step.
HYBRID_FLOPS(DeltaRuleOp, ruleFlops(*this, getDecay() ? 3 : 2, getB() ? 6 : 4),
             "L·B·H·K·V·(2, 3 with decay, + steps·(4, 6 with b)) (recurrent)")
// The states again; dq, the read-out's part of dS and its decay, the gradient of the decay; a's
// part of dS and a product of a state for each gradient of a step.
HYBRID_FLOPS(DeltaRuleGradOp, ruleFlops(*this, getDecay() ? 8 : 4, getB() ? 16 : 12),
             "L·B·H·K·V·(4, 8 with decay, + steps·(12, 16 with b)) (recurrent, the states again)")
int64_t DeltaRuleOp::getFixedStateElements() { return lastSize(getQ()) * getValueSize(); }

HYBRID_VJP(DeltaRuleOp) {
  auto gradient = DeltaRuleGradOp::create(
      builder, getLoc(), getQ(), getK(), getV(), getA(), getB(), getDecay(), getSegments(),
      getInitialState(), orZeros(builder, cotangents[0], getResult()),
      cotangents.size() > 1 ? cotangents[1] : Value(), getHeads(), getSteps(), getScale());
  appendInOrder(*this, gradient.getResults(), gradients);
  return success();
}
