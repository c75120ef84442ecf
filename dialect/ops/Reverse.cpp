//===- Reverse.cpp - a dimension from its end to its start ----------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(ReverseOp) {
  auto axis = static_cast<int64_t>(adaptor.getAxis());
  if (axis < 0 || axis >= static_cast<int64_t>(shapeOf(adaptor.getX()).size())) // C1
    return emitOptionalError(location, "reverse: axis = ", axis, ", but x is ",
                             shapeText(shapeOf(adaptor.getX())));
  return give(types, {adaptor.getX().getType()});
}

HYBRID_VJP(ReverseOp) {
  return give(gradients, {ReverseOp::create(builder, getLoc(), cotangents[0], getAxis())});
}

FailureOr<int64_t> ReverseOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                              StringRef &why) {
  return alongSequenceAxis(operandAxes, static_cast<int64_t>(getAxis()), why);
}

// Along the dimension that is turned round.
SequenceUse ReverseOp::getSequenceUse(unsigned, int64_t axis, unsigned) {
  return SequenceUse::all("it cuts, joins or shifts along the sequence", axis);
}
