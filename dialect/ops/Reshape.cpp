//===- Reshape.cpp - the same elements under another shape ----------------===//
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(sizesOf(adaptor.getShape()), elementOf(adaptor.getX())));
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getX().getType()), to = cast<RankedTensorType>(getType());
  if (from.hasStaticShape() && to.hasStaticShape() &&
      from.getNumElements() != to.getNumElements()) // C1
    return emitOpError() << "cannot make " << shapeText(to.getShape()) << " ("
                         << to.getNumElements() << " elements) of " << shapeText(from.getShape())
                         << " (" << from.getNumElements() << ")";
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  if (getX().getType() == type && type.hasStaticShape())
    return getX();
  // reshape(reshape(x)) -> reshape(x)
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

LogicalResult ReshapeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  gradients.push_back(ExpressionBuilder{builder, getLoc()}.reshape(cotangents[0], shapeOf(getX())));
  return success();
}
