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

static LogicalResult verifyStatic(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!cast<RankedTensorType>(type).hasStaticShape())
    return op->emitOpError() << "has a free dimension: " << type << ", expected a static shape";
  return success();
}

LogicalResult RandomOp::verify() { return verifyStatic(*this); } // C1

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }
LogicalResult ConstantOp::verify() { return verifyStatic(*this); } // C1

LogicalResult IotaOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (adaptor.getLength().size() != 1) // C1
    return emitOptionalError(location, "iota: length has ", adaptor.getLength().size(),
                             " entries, expected 1");
  if (!adaptor.getElementType().isF32() && !adaptor.getElementType().isF64()) // C2
    return emitOptionalError(location, "iota: element type is ", adaptor.getElementType(),
                             ", expected f32 or f64");
  types.push_back(tensorOf(sizesOf(adaptor.getLength()), adaptor.getElementType()));
  return success();
}

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (shapeOf(adaptor.getTable()).size() != 2) // C1
    return emitOptionalError(location, "embedding: table must be [classes, width], but is ",
                             shapeText(shapeOf(adaptor.getTable())));
  SmallVector<int64_t> shape(shapeOf(adaptor.getIds()));
  shape.push_back(lastSize(adaptor.getTable()));
  types.push_back(tensorOf(shape, elementOf(adaptor.getTable())));
  return success();
}

LogicalResult EmbeddingGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  int64_t classes = adaptor.getClasses();
  if (classes < 1) // C2
    return emitOptionalError(location, "embedding_grad: classes = ", classes,
                             ", expected at least 1");
  types.push_back(
      tensorOf({static_cast<int64_t>(adaptor.getClasses()), lastSize(adaptor.getCotangent())},
               elementOf(adaptor.getCotangent())));
  return success();
}

LogicalResult EmbeddingGradOp::verify() {
  ArrayRef<int64_t> ids = shapeOf(getIds()), cotangent = shapeOf(getCotangent());
  if (cotangent.empty() || !compatibleShapes(cotangent.drop_back(), ids)) // C1
    return emitOpError() << "cotangent is " << shapeText(cotangent) << ", but ids are "
                         << shapeText(ids) << ": expected their dimensions and one for the width";
  return success();
}
