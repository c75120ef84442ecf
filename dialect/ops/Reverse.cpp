//===- Reverse.cpp - a dimension from its end to its start ----------------===//
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"

using namespace mlir;
using namespace hybrid;

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto axis = static_cast<int64_t>(adaptor.getAxis());
  if (axis < 0 || axis >= static_cast<int64_t>(shapeOf(adaptor.getX()).size())) // C1
    return emitOptionalError(location, "reverse: axis = ", axis, ", but x is ",
                             shapeText(shapeOf(adaptor.getX())));
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult ReverseOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  gradients.push_back(ReverseOp::create(builder, getLoc(), cotangents[0], getAxis()));
  return success();
}

FailureOr<int64_t> ReverseOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                              StringRef &why) {
  return alongSequenceAxis(operandAxes, static_cast<int64_t>(getAxis()), why);
}
