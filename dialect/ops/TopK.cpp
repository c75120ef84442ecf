//===- TopK.cpp - places of the largest values ----------------------------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(TopKOp) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  int64_t k = adaptor.getK();
  if (shape.empty()) // C1
    return emitOptionalError(location, "top_k: x is a single number, expected [..., values]");
  if (k < 1 || (!ShapedType::isDynamic(shape.back()) && k > shape.back())) // C2
    return emitOptionalError(location, "top_k: k = ", k, ", but x is ", shapeText(shape),
                             ": expected 1 to its last dimension");
  if (shape.back() > INT32_MAX) // C2
    return emitOptionalError(location, "top_k: x is ", shapeText(shape),
                             ", but places reach 2^31 - 1 values only");
  shape.back() = k;
  return give(types, {tensorOf(shape, IntegerType::get(context, 32))});
}

HYBRID_FLOPS(TopKOp, elementCount(getX()) * static_cast<int64_t>(getK()), "B·L·E·k comparisons")

SequenceUse TopKOp::getSequenceUse(unsigned, int64_t axis, unsigned) {
  return leadingSequenceUse(getX(), axis);
}
