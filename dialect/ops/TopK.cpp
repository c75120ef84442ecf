//===- TopK.cpp - places of the largest values ----------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  int64_t k = adaptor.getK();
  if (shape.empty()) // C1
    return emitOptionalError(location, "top_k: x is a single number, expected [..., values]");
  if (k < 1 || (!ShapedType::isDynamic(shape.back()) && k > shape.back())) // C2
    return emitOptionalError(location, "top_k: k = ", k, ", but x is ", shapeText(shape),
                             ": expected 1 to its last dimension");
  shape.back() = k;
  types.push_back(tensorOf(shape, IntegerType::get(context, 32)));
  return success();
}

int64_t TopKOp::getFlops() { return elementCount(getX()) * static_cast<int64_t>(getK()); }
StringRef TopKOp::getFlopsFormula() { return "B·L·E·k comparisons"; }
