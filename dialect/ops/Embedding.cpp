//===- Embedding.cpp - rows of a table chosen by token ids ----------------===//
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (shapeOf(adaptor.getTable()).size() != 2) // C1
    return emitOptionalError(location, "embedding: table is ",
                             shapeText(shapeOf(adaptor.getTable())), ", expected [classes, width]");
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

LogicalResult EmbeddingOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                    SmallVectorImpl<Value> &gradients) {
  gradients.push_back(
      EmbeddingGradOp::create(builder, getLoc(), getIds(), cotangents[0], shapeOf(getTable())[0]));
  gradients.push_back(Value());
  return success();
}

int64_t EmbeddingOp::getFlops() { return 0; }
StringRef EmbeddingOp::getFlopsFormula() { return "0 (a gather)"; }

// The rows that are chosen, not the table.
int64_t EmbeddingOp::getBytesMoved() {
  auto bytes = [](Value value) {
    return elementCount(value) * (elementOf(value).getIntOrFloatBitWidth() / 8);
  };
  return bytes(getIds()) + 2 * bytes(getResult());
}
int64_t EmbeddingGradOp::getFlops() { return elementCount(getCotangent()); }
StringRef EmbeddingGradOp::getFlopsFormula() { return "B·L·D"; }

FailureOr<int64_t> EmbeddingOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                                StringRef &why) {
  if (operandAxes[0]) {
    why = "its table depends on the sequence";
    return failure();
  }
  return *operandAxes[1];
}
