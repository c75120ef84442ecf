//===- Take.cpp - values at given places, and back ------------------------===//
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult TakeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (!sameLeading(adaptor.getX(), 1, adaptor.getIndices(), 1)) // C1
    return emitOptionalError(location, "take: x is ", shapeText(shapeOf(adaptor.getX())),
                             " and indices ", shapeText(shapeOf(adaptor.getIndices())),
                             ": expected equal sizes but the last");
  types.push_back(tensorOf(shapeOf(adaptor.getIndices()), elementOf(adaptor.getX())));
  return success();
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  int64_t size = adaptor.getSize();
  if (shape.empty() || !sameLeading(adaptor.getX(), 0, adaptor.getIndices(), 0)) // C1
    return emitOptionalError(location, "scatter: x is ", shapeText(shape), " and indices ",
                             shapeText(shapeOf(adaptor.getIndices())),
                             ": expected the same shape, [..., values]");
  if (size < 1 || size > INT32_MAX) // C2
    return emitOptionalError(location, "scatter: size = ", size, ", expected 1 to 2^31 - 1");
  shape.back() = size;
  types.push_back(tensorOf(shape, elementOf(adaptor.getX())));
  return success();
}

LogicalResult TakeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &gradients) {
  gradients.push_back(
      ScatterOp::create(builder, getLoc(), cotangents[0], getIndices(), lastSize(getX())));
  gradients.push_back(Value());
  return success();
}

LogicalResult ScatterOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  gradients.push_back(TakeOp::create(builder, getLoc(), cotangents[0], getIndices()));
  gradients.push_back(Value());
  return success();
}

int64_t TakeOp::getFlops() { return 0; }
StringRef TakeOp::getFlopsFormula() { return "0 (a gather)"; }
int64_t ScatterOp::getFlops() { return elementCount(getX()); }
StringRef ScatterOp::getFlopsFormula() { return "elements"; }
