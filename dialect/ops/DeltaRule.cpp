//===- DeltaRule.cpp - scan of a state that erases before it writes -------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/HeadRules.h"

using namespace mlir;
using namespace hybrid;

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
  return give(types,
              {tensorOf({q[0], heads, partOf(q[2], heads), partOf(partOf(v[2], heads), steps)},
                        elementOf(adaptor.getV()))});
}

HYBRID_INFER(DeltaRuleGradOp) {
  appendTypes({adaptor.getQ(), adaptor.getK(), adaptor.getV(), adaptor.getA(), adaptor.getB(),
               adaptor.getDecay(), adaptor.getInitialState()},
              types);
  return success();
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
  int64_t keys = q[2];
  if (!ShapedType::isDynamic(q[2]) && llvm::MulOverflow(q[2], steps, keys)) // C2
    return op.emitOpError() << "steps = " << steps << " are too many for the channels of q ("
                            << q[2] << ")";
  for (auto [name, value] : sequences) // C1
    if (value && name != "q" && name != "v" &&
        !compatibleShapes({q[0], q[1], keys}, shapeOf(value)))
      return op.emitOpError() << name << " is " << shapeText(shapeOf(value)) << ", but q is "
                              << shapeText(q) << " with " << steps << " steps: expected "
                              << shapeText({q[0], q[1], keys});
  if (failed(verifyValues(op))) // C1
    return failure();
  if (!isDivided(q[2], heads)) // C2
    return op.emitOpError() << "heads = " << heads << " does not divide the channels of q (" << q[2]
                            << ")";
  if (!isDivided(v[2], heads) || !isDivided(partOf(v[2], heads), steps)) // C2
    return op.emitOpError() << "heads = " << heads << " times steps = " << steps
                            << " does not divide the channels of v (" << v[2] << ")";
  return verifyDecayAndStates(op, false); // C3 to C5
}
LogicalResult DeltaRuleOp::verify() { return verifyRule(*this); }

LogicalResult DeltaRuleGradOp::verify() {
  if (failed(verifyRule(*this)))
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
