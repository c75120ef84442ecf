//===- SoftmaxScan.cpp - softmax-weighted averages of the past ------------===//
#include "dialect/CarriedState.h"
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"

using namespace mlir;
using namespace hybrid;

/// Lags with a bias of their own.
static int64_t tapsOf(Value taps) { return taps && !shapeOf(taps).empty() ? shapeOf(taps)[0] : 0; }

/// [batch, rows, values and log weights].
static SmallVector<int64_t> stateShape(Value k, Value v, Value taps) {
  ArrayRef<int64_t> shape = shapeOf(v);
  return {shape[0], std::max<int64_t>(1, tapsOf(taps)), shape[2] + lastSize(k)};
}

/// What the scan and its gradient ask in common.
template <typename Op> static LogicalResult verifyScan(Op op) {
  if (failed(verifySequence(op, "v", op.getV()))) // C1
    return failure();
  ArrayRef<int64_t> v = shapeOf(op.getV()), k = shapeOf(op.getK());
  bool fits = k.size() == 3 && compatible(k[0], v[0]) && compatible(k[1], v[1]) && k[2] > 0 &&
              v[2] > 0 && v[2] % k[2] == 0;
  if (!fits) // C2
    return op.emitOpError() << "k is " << shapeText(k) << ", but v is " << shapeText(v)
                            << ": expected [batch, length, keys], keys dividing the channels";
  int64_t keys = k[2];
  if (Value taps = op.getTaps()) { // C3
    ArrayRef<int64_t> shape = shapeOf(taps);
    if (shape.size() != 2 || shape[0] < 1 || shape[1] != keys)
      return op.emitOpError() << "taps is " << shapeText(shape) << ", but k is " << shapeText(k)
                              << ": expected [lags, " << keys << "]";
  }
  if (Value decay = op.getDecay()) // C4
    if (shapeOf(decay) != ArrayRef<int64_t>(keys))
      return op.emitOpError() << "decay is " << shapeText(shapeOf(decay)) << ", but k is "
                              << shapeText(k) << ": expected [" << keys << "]";
  return verifySegments(op, op.getSegments(), op.getV(), "v"); // C5
}

/// C6: rows of averages and log weights.
template <typename Op> static LogicalResult verifyScanState(Op op, StringRef name, Value state) {
  return verifyState(op, name, state, stateShape(op.getK(), op.getV(), op.getTaps()),
                     "[batch, max(lags, 1), channels + keys]");
}

LogicalResult SoftmaxScanOp::verify() {
  if (failed(verifyScan(*this)))
    return failure();
  return verifyScanState(*this, "initial_state", getInitialState()); // C6
}

HYBRID_INFER(SoftmaxScanOp) {
  types.append({adaptor.getV().getType(), adaptor.getK().getType()});
  if (!adaptor.getReturnState())
    return success();
  if (shapeOf(adaptor.getV()).size() != 3)
    return emitOptionalError(location, "softmax_scan: v must be [batch, length, channels]");
  return give(types, {tensorOf(stateShape(adaptor.getK(), adaptor.getV(), adaptor.getTaps()),
                               elementOf(adaptor.getV()))});
}

LogicalResult SoftmaxScanGradOp::verify() {
  if (failed(verifyScan(*this)))
    return failure();
  for (auto [name, state] :
       {std::pair("initial_state", getInitialState()), std::pair("final_state", getFinalState()),
        std::pair("state_cotangent", getStateCotangent())}) // C6
    if (failed(verifyScanState(*this, name, state)))
      return failure();
  if (failed(verifyCotangent(*this, "output", getOutput(), "v", getV())) ||       // C7
      failed(verifyCotangent(*this, "cotangent", getCotangent(), "v", getV())) || // C7
      failed(verifyCotangent(*this, "lse", getLse(), "k", getK())))               // C8
    return failure();
  if (!getFinalState() != !getStateCotangent()) // C9
    return emitOpError() << "has " << (getFinalState() ? "final_state" : "state_cotangent")
                         << " without " << (getFinalState() ? "state_cotangent" : "final_state");
  return success();
}

HYBRID_INFER(SoftmaxScanGradOp) {
  appendTypes({adaptor.getK(), adaptor.getV(), adaptor.getTaps(), adaptor.getDecay(),
               adaptor.getInitialState()},
              types);
  return success();
}

static int64_t scanFlops(Value v, Value taps) { return elementCount(v) * (4 * tapsOf(taps) + 10); }
HYBRID_FLOPS(SoftmaxScanOp, scanFlops(getV(), getTaps()), "(4·S + 10)·B·L·D")
HYBRID_FLOPS(SoftmaxScanGradOp, 2 * scanFlops(getV(), getTaps()), "(8·S + 20)·B·L·D")

int64_t SoftmaxScanOp::getFixedStateElements() {
  SmallVector<int64_t> shape = stateShape(getK(), getV(), getTaps());
  return shape[1] * shape[2];
}

HYBRID_VJP(SoftmaxScanOp) {
  if (cotangents[1])
    return emitOpError() << "has no gradient through its softmax denominators";
  Value dState = cotangents.size() > 2 ? cotangents[2] : Value();
  auto gradient = SoftmaxScanGradOp::create(
      builder, getLoc(), getK(), getV(), getTaps(), getDecay(), getSegments(), getInitialState(),
      getResult(), getLse(), orZeros(builder, cotangents[0], getResult()),
      dState ? getFinalState() : Value(), dState);
  appendInOrder(*this, gradient.getGradients(), gradients);
  return success();
}

StringRef SoftmaxScanOp::getObstacle(int64_t) {
  if (getSegments())
    return "sequences are packed";
  return getInitialState() || getReturnState()
             ? "its state is not one that a chunk can hand to the next"
             : "";
}

/// Its own state does not start at zero: rows without history have a log weight of -1e30. Whether
/// a sequence has any is a state too.
SmallVector<Value> SoftmaxScanOp::buildCarried(OpBuilder &builder, int64_t, StateOfType stateOfType,
                                               SmallVectorImpl<Value> &finalStates) {
  ExpressionBuilder e{builder, getLoc()};
  Type element = elementOf(getV());
  const int64_t batch = shapeOf(getV())[0], rows = getTaps() ? shapeOf(getTaps())[0] : 1,
                values = lastSize(getV()), all = values + lastSize(getK());
  Value state = stateOfType(tensorOf({batch, rows, all}, element)),
        seen = stateOfType(tensorOf({batch}, element));
  Value channel = countFrom(e, 0.5 - static_cast<double>(values), all, element);
  Value isWeight = e.binary(BinaryKind::Less, e.constant(0, state), channel),
        isStart =
            e.binary(BinaryKind::Less, e.reshape(seen, {batch, 1, 1}), e.constant(0.5, state));
  Value before = e.add(state, e.mul(e.mul(isWeight, isStart), -1e30));
  auto whole = SoftmaxScanOp::create(builder, e.loc, getK(), getV(), getTaps(), getDecay(), Value(),
                                     before, true);
  finalStates.push_back(whole.getFinalState());
  finalStates.push_back(
      ConstantOp::create(builder, e.loc, seen.getType(), builder.getF64FloatAttr(1)));
  return {whole.getResult(), whole.getLse()};
}
