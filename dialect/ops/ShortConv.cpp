//===- ShortConv.cpp - short depthwise causal convolution -----------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(ShortConvOp) {
  types.push_back(adaptor.getX().getType());
  if (!adaptor.getReturnState())
    return success();
  ArrayRef<int64_t> x = shapeOf(adaptor.getX()), weight = shapeOf(adaptor.getWeight());
  if (x.size() != 3 || weight.size() != 2)
    return emitOptionalError(
        location, "short_conv: x must be [batch, length, channels] and weight [channels, taps]");
  return give(types, {tensorOf({x[0], weight[1] - 1, x[2]}, elementOf(adaptor.getX()))});
}

/// What the convolution and its gradient ask in common. repeats: channels may read x again and
/// again.
template <typename Op> static LogicalResult verifyShortConv(Op op, bool repeats) {
  if (failed(verifySequence(op, "x", op.getX()))) // C1
    return failure();
  ArrayRef<int64_t> x = shapeOf(op.getX()), weight = shapeOf(op.getWeight());
  if (weight.size() != 2 ||
      (!compatible(weight[0], x[2]) && !(repeats && x[2] > 0 && weight[0] % x[2] == 0))) // C2
    return op.emitOpError() << "weight is " << shapeText(weight) << ", but x has " << x[2]
                            << " channels: expected [" << x[2]
                            << (repeats ? " or a multiple, taps]" : ", taps]");
  if (weight[1] == 0) // C2
    return op.emitOpError() << "weight is " << shapeText(weight) << ": expected at least one tap";
  return verifySegments(op, op.getSegments(), op.getX()); // C3
}

/// C4: `state` holds one input for each tap but the last.
static LogicalResult verifyShortState(Operation *op, StringRef name, Value state, Value x,
                                      Value weight) {
  if (!state)
    return success();
  ArrayRef<int64_t> shape = shapeOf(state), input = shapeOf(x);
  int64_t taps = shapeOf(weight)[1];
  bool fits = shape.size() == 3 && compatible(shape[0], input[0]) &&
              compatible(shape[2], input[2]) &&
              (ShapedType::isDynamic(taps) || compatible(shape[1], taps - 1));
  if (!fits)
    return op->emitOpError() << name << " is " << shapeText(shape) << ", but x is "
                             << shapeText(input) << " and there are " << taps
                             << " taps: expected [batch, taps - 1, channels]";
  return success();
}

LogicalResult ShortConvOp::verify() {
  if (failed(verifyShortConv(*this, /*repeats=*/false)))
    return failure();
  if (getReturnState() && shapeOf(getWeight())[1] == 1) // C5
    return emitOpError() << "return_state is set, but a convolution of one tap carries no state";
  if (failed(verifyPerChannel(*this, "bias", getBias(), getX()))) // C2
    return failure();
  return verifyShortState(*this, "initial_state", getInitialState(), getX(), getWeight()); // C4
}

LogicalResult ShortConvGradOp::verify() {
  if (failed(verifyShortConv(*this, /*repeats=*/true)) ||
      failed(
          verifyShortState(*this, "initial_state", getInitialState(), getX(), getWeight())) || // C4
      failed(verifyShortState(*this, "state_cotangent", getStateCotangent(), getX(),
                              getWeight()))) // C4
    return failure();
  ArrayRef<int64_t> x = shapeOf(getX()), cotangent = shapeOf(getCotangent());
  const int64_t channels = shapeOf(getWeight())[0];
  if ((getInitialState() || getStateCotangent()) && !compatible(channels, x[2])) // C4
    return emitOpError() << "weight is " << shapeText(shapeOf(getWeight())) << ", but x has "
                         << x[2] << " channels: expected as many where there is a state";
  if (cotangent.size() != 3 || !compatible(cotangent[0], x[0]) || !compatible(cotangent[1], x[1]) ||
      !compatible(cotangent[2], channels)) // C5
    return emitOpError() << "cotangent is " << shapeText(cotangent) << ", but x is " << shapeText(x)
                         << " and there are " << channels
                         << " channels: expected [batch, length, channels]";
  return success();
}

HYBRID_INFER(ShortConvGradOp) {
  if (shapeOf(adaptor.getWeight()).size() != 2)
    return emitOptionalError(location, "short_conv_grad: weight is ",
                             shapeText(shapeOf(adaptor.getWeight())),
                             ", expected [channels, taps]");
  appendTypes({adaptor.getX(), adaptor.getWeight()}, types);
  types.push_back(tensorOf({shapeOf(adaptor.getWeight())[0]}, elementOf(adaptor.getX())));
  appendTypes({adaptor.getInitialState()}, types);
  return success();
}

HYBRID_VJP(ShortConvOp) {
  auto gradient =
      ShortConvGradOp::create(builder, getLoc(), getX(), getWeight(), getSegments(),
                              getInitialState(), orZeros(builder, cotangents[0], getResult()),
                              cotangents.size() > 1 ? cotangents[1] : Value());
  gradients.push_back(gradient.getDx());
  gradients.push_back(gradient.getDweight());
  if (getBias())
    gradients.push_back(gradient.getDbias());
  if (getSegments())
    gradients.push_back(Value());
  if (getInitialState())
    gradients.push_back(gradient.getDinitialState());
  return success();
}

HYBRID_FLOPS(ShortConvOp, 2 * elementCount(getX()) * shapeOf(getWeight())[1], "2·K·B·L·C")
HYBRID_FLOPS(ShortConvGradOp, 4 * elementCount(getCotangent()) * shapeOf(getWeight())[1],
             "4·K·B·L·C")

int64_t ShortConvOp::getFixedStateElements() {
  return (shapeOf(getWeight())[1] - 1) * lastSize(getX());
}
bool ShortConvOp::isShortBuffer() { return true; }
