//===- Embedding.cpp - rows of a table chosen by token ids ----------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(EmbeddingOp) {
  if (shapeOf(adaptor.getTable()).size() != 2) // C1
    return emitOptionalError(location, "embedding: table is ",
                             shapeText(shapeOf(adaptor.getTable())), ", expected [classes, width]");
  SmallVector<int64_t> shape(shapeOf(adaptor.getIds()));
  shape.push_back(lastSize(adaptor.getTable()));
  return give(types, {tensorOf(shape, elementOf(adaptor.getTable()))});
}

HYBRID_INFER(EmbeddingGradOp) {
  int64_t classes = adaptor.getClasses();
  if (classes < 1) // C2
    return emitOptionalError(location, "embedding_grad: classes = ", classes,
                             ", expected at least 1");
  return give(types, {tensorOf({static_cast<int64_t>(adaptor.getClasses()),
                                lastSize(adaptor.getCotangent())},
                               elementOf(adaptor.getCotangent()))});
}

LogicalResult EmbeddingGradOp::verify() {
  ArrayRef<int64_t> ids = shapeOf(getIds()), cotangent = shapeOf(getCotangent());
  if (cotangent.empty() || !compatibleShapes(cotangent.drop_back(), ids)) // C1
    return emitOpError() << "cotangent is " << shapeText(cotangent) << ", but ids are "
                         << shapeText(ids) << ": expected their dimensions and one for the width";
  return success();
}

HYBRID_VJP(EmbeddingOp) {
  return give(gradients, {EmbeddingGradOp::create(builder, getLoc(), getIds(), cotangents[0],
                                                  shapeOf(getTable())[0]),
                          {}});
}

HYBRID_FLOPS(EmbeddingOp, 0, "0 (a gather)")

// The rows that are chosen, not the table.
int64_t EmbeddingOp::getBytesMoved() {
  auto bytes = [](Value value) {
    return elementCount(value) * (elementOf(value).getIntOrFloatBitWidth() / 8);
  };
  return bytes(getIds()) + 2 * bytes(getResult());
}
HYBRID_FLOPS(EmbeddingGradOp, elementCount(getCotangent()), "B·L·D")

IdsAttr EmbeddingOp::getIdRange(unsigned index) {
  return getOperand(index) == getIds() ? IdsAttr::get(getContext(), shapeOf(getTable())[0], 0)
                                       : IdsAttr();
}

FailureOr<int64_t> EmbeddingOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                                StringRef &why) {
  if (operandAxes[0]) {
    why = "its table depends on the sequence";
    return failure();
  }
  return *operandAxes[1];
}
