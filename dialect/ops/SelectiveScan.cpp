//===- SelectiveScan.cpp - the scan of Mamba ------------------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"

using namespace mlir;
using namespace hybrid;

/// Groups of a map that is given for each token; nothing for a constant one.
static std::optional<int64_t> groupsOf(Value map, int64_t states) {
  if (shapeOf(map).size() != 3)
    return std::nullopt;
  return lastSize(map) / states;
}

/// What the scan and its gradient ask in common.
template <typename Op> static LogicalResult verifyScan(Op op) {
  if (failed(verifySequence(op, "x", op.getX()))) // C1
    return failure();
  if (failed(verifyCotangent(op, "dt", op.getDt(), "x", op.getX()))) // C2
    return failure();
  ArrayRef<int64_t> x = shapeOf(op.getX()), a = shapeOf(op.getA());
  if (a.size() != 2 || a[1] < 1 || !compatible(a[0], x[2])) // C3
    return op.emitOpError() << "a is " << shapeText(a) << ", but x has " << x[2]
                            << " channels: expected [" << x[2] << ", states]";
  int64_t channels = a[0], states = a[1];
  for (auto [name, map] : {std::pair("b", op.getB()), std::pair("c", op.getC())}) { // C4
    ArrayRef<int64_t> shape = shapeOf(map);
    bool constant = compatibleShapes(shape, a);
    bool perToken = shape.size() == 3 && compatible(shape[0], x[0]) && compatible(shape[1], x[1]) &&
                    shape[2] > 0 && shape[2] % states == 0 && channels % (shape[2] / states) == 0;
    if (!constant && !perToken)
      return op.emitOpError() << name << " is " << shapeText(shape) << ", but x is " << shapeText(x)
                              << " with " << states
                              << " states: expected [channels, states] or [batch, length, groups * "
                                 "states], groups dividing the channels";
  }
  auto inputGroups = groupsOf(op.getB(), states), outputGroups = groupsOf(op.getC(), states);
  if (inputGroups && outputGroups && *inputGroups != *outputGroups) // C5
    return op.emitOpError() << "b has " << *inputGroups << " groups and c " << *outputGroups
                            << ": expected as many";
  for (auto [name, values] :
       {std::pair("dt_bias", op.getDtBias()), std::pair("skip", op.getSkip())})
    if (values && !compatibleShapes(shapeOf(values), {channels})) // C8
      return op.emitOpError() << name << " is " << shapeText(shapeOf(values)) << ", expected ["
                              << channels << "]";
  if (op.getGate() && failed(verifyCotangent(op, "gate", op.getGate(), "x", op.getX()))) // C9
    return failure();
  return verifySegments(op, op.getSegments(), op.getX()); // C6
}

/// C7: one state a channel and state number.
static LogicalResult verifyScanState(Operation *op, StringRef name, Value state, Value x, Value a) {
  return verifyState(op, name, state, {shapeOf(x)[0], shapeOf(a)[0], shapeOf(a)[1]},
                     "[batch, channels, states]");
}

LogicalResult SelectiveScanOp::verify() {
  if (failed(verifyScan(*this)))
    return failure();
  return verifyScanState(*this, "initial_state", getInitialState(), getX(), getA()); // C7
}

HYBRID_INFER(SelectiveScanOp) {
  types.push_back(adaptor.getX().getType());
  if (!adaptor.getReturnState())
    return success();
  ArrayRef<int64_t> x = shapeOf(adaptor.getX()), a = shapeOf(adaptor.getA());
  if (x.size() != 3 || a.size() != 2)
    return emitOptionalError(
        location, "selective_scan: x must be [batch, length, channels] and a [channels, states]");
  return give(types, {tensorOf({x[0], a[0], a[1]}, elementOf(adaptor.getX()))});
}

LogicalResult SelectiveScanGradOp::verify() {
  if (failed(verifyScan(*this)) ||
      failed(verifyScanState(*this, "initial_state", getInitialState(), getX(), getA())) || // C7
      failed(verifyScanState(*this, "state_cotangent", getStateCotangent(), getX(),
                             getA()))) // C7
    return failure();
  return verifyCotangent(*this, "cotangent", getCotangent(), "x", getX()); // C10
}

HYBRID_INFER(SelectiveScanGradOp) {
  appendTypes({adaptor.getX(), adaptor.getDt(), adaptor.getA(), adaptor.getB(), adaptor.getC(),
               adaptor.getInitialState(), adaptor.getDtBias(), adaptor.getSkip(),
               adaptor.getGate()},
              types);
  return success();
}

// For each token, channel and state: step times rate, exp, decay, input (2), sum (1) and output
// (2), and the discretised input; as the authors count.
// What stands around the scan costs next to nothing beside it: two for the skip, one for the bias,
// and one each for the product with the gate and for the elementwise functions.
template <typename Op> static int64_t scanFlops(Op op) {
  return elementCount(op.getX()) *
         (9 * shapeOf(op.getA())[1] + (op.getSkip() ? 2 : 0) + (op.getDtBias() ? 1 : 0) +
          (op.getDtSoftplus() ? 1 : 0) + (op.getGate() ? 2 : 0));
}
HYBRID_FLOPS(SelectiveScanOp, scanFlops(*this), "9·B·L·D·N")
HYBRID_FLOPS(SelectiveScanGradOp, 2 * scanFlops(*this), "18·B·L·D·N")
int64_t SelectiveScanOp::getFixedStateElements() { return elementCount(getA()); }

HYBRID_VJP(SelectiveScanOp) {
  auto gradient = SelectiveScanGradOp::create(
      builder, getLoc(), getX(), getDt(), getA(), getB(), getC(), getSegments(), getInitialState(),
      getDtBias(), getSkip(), getGate(), orZeros(builder, cotangents[0], getResult()),
      cotangents.size() > 1 ? cotangents[1] : Value(), getDtSoftplus());
  appendInOrder(*this, gradient.getResults(), gradients);
  return success();
}
