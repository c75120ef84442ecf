//===- Dispatch.cpp - rows into expert order, and back --------------------===//
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

/// What dispatch and collect have in common: C1.
template <typename Adaptor>
static LogicalResult inferRows(StringRef name, std::optional<Location> location, Adaptor adaptor,
                               SmallVectorImpl<Type> &types) {
  if (!sameLeading(adaptor.getX(), 1, adaptor.getSlots(), 0))
    return emitOptionalError(location, name, ": x is ", shapeText(shapeOf(adaptor.getX())),
                             " and slots ", shapeText(shapeOf(adaptor.getSlots())),
                             ": expected a slot for every row of x");
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult DispatchOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferRows("dispatch", location, adaptor, types);
}

LogicalResult CollectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferRows("collect", location, adaptor, types);
}

LogicalResult DispatchOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                   SmallVectorImpl<Value> &gradients) {
  gradients.push_back(CollectOp::create(builder, getLoc(), cotangents[0], getSlots()));
  gradients.push_back(Value());
  return success();
}

LogicalResult CollectOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  gradients.push_back(DispatchOp::create(builder, getLoc(), cotangents[0], getSlots()));
  gradients.push_back(Value());
  return success();
}

int64_t DispatchOp::getFlops() { return 0; }
StringRef DispatchOp::getFlopsFormula() { return "0 (a gather)"; }
int64_t CollectOp::getFlops() { return 0; }
StringRef CollectOp::getFlopsFormula() { return "0 (a gather)"; }
