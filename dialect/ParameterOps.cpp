//===- ParameterOps.cpp - rules of the ops that values come from ------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult ParameterOp::verify() {
  auto type = getResult().getType();
  if (!cast<RankedTensorType>(type).hasStaticShape()) // C1
    return emitOpError() << "'" << getName() << "' has a free dimension: " << type;
  if (getInitial() && getInitial().getType() != type) // C2
    return emitOpError() << "'" << getName() << "' is " << type << ", but its initial value is "
                         << getInitial().getType();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult IotaOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(sizesOf(adaptor.getLength()), adaptor.getElementType()));
  return success();
}

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (shapeOf(adaptor.getTable()).size() != 2)
    return emitOptionalError(location, "embedding: table must be [classes, width], but is ",
                             shapeText(shapeOf(adaptor.getTable())));
  SmallVector<int64_t> shape(shapeOf(adaptor.getIds()));
  shape.push_back(lastSize(adaptor.getTable()));
  types.push_back(tensorOf(shape, elementOf(adaptor.getTable())));
  return success();
}

LogicalResult EmbeddingOp::verify() { return success(); }

LogicalResult EmbeddingGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf({static_cast<int64_t>(adaptor.getClasses()), lastSize(adaptor.getCotangent())},
                           elementOf(adaptor.getCotangent())));
  return success();
}
