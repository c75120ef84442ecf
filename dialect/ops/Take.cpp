//===- Take.cpp - values at given places, and back ------------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(TakeOp) {
  if (!sameLeading(adaptor.getX(), 1, adaptor.getIndices(), 1)) // C1
    return emitOptionalError(location, "take: x is ", shapeText(shapeOf(adaptor.getX())),
                             " and indices ", shapeText(shapeOf(adaptor.getIndices())),
                             ": expected equal sizes but the last");
  if (lastSize(adaptor.getX()) > INT32_MAX) // C2
    return emitOptionalError(location, "take: x is ", shapeText(shapeOf(adaptor.getX())),
                             ", but indices reach 2^31 - 1 values only");
  return give(types, {tensorOf(shapeOf(adaptor.getIndices()), elementOf(adaptor.getX()))});
}

HYBRID_INFER(ScatterOp) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  int64_t size = adaptor.getSize();
  if (shape.empty() || !sameLeading(adaptor.getX(), 0, adaptor.getIndices(), 0)) // C1
    return emitOptionalError(location, "scatter: x is ", shapeText(shape), " and indices ",
                             shapeText(shapeOf(adaptor.getIndices())),
                             ": expected the same shape, [..., values]");
  if (size < 1 || size > INT32_MAX) // C2
    return emitOptionalError(location, "scatter: size = ", size, ", expected 1 to 2^31 - 1");
  shape.back() = size;
  return give(types, {tensorOf(shape, elementOf(adaptor.getX()))});
}

HYBRID_VJP(TakeOp) {
  return give(
      gradients,
      {ScatterOp::create(builder, getLoc(), cotangents[0], getIndices(), lastSize(getX())), {}});
}

HYBRID_VJP(ScatterOp) {
  return give(gradients, {TakeOp::create(builder, getLoc(), cotangents[0], getIndices()), {}});
}

IdsAttr TakeOp::getIdRange(unsigned index) {
  return getOperand(index) == getIndices() ? IdsAttr::get(getContext(), lastSize(getX()), 0)
                                           : IdsAttr();
}

HYBRID_FLOPS(TakeOp, 0, "0 (a gather)")
HYBRID_FLOPS(ScatterOp, elementCount(getX()), "elements")

SequenceUse TakeOp::getSequenceUse(unsigned operand, int64_t axis, unsigned) {
  return leadingSequenceUse(getOperand(operand), axis);
}
SequenceUse ScatterOp::getSequenceUse(unsigned operand, int64_t axis, unsigned) {
  return leadingSequenceUse(getOperand(operand), axis);
}
