//===- Reshape.cpp - the same elements under another shape ----------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(ReshapeOp) {
  return give(types, {tensorOf(sizesOf(adaptor.getShape()), elementOf(adaptor.getX()))});
}

LogicalResult ReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getX().getType()), to = cast<RankedTensorType>(getType());
  if (from.hasStaticShape() && to.hasStaticShape() &&
      from.getNumElements() != to.getNumElements()) // C1
    return emitOpError() << "cannot make " << shapeText(to.getShape()) << " of "
                         << shapeText(from.getShape()) << ": the number of elements differs";
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

HYBRID_VJP(ReshapeOp) {
  return give(gradients,
              {ExpressionBuilder{builder, getLoc()}.reshape(cotangents[0], shapeOf(getX()))});
}

// The sequence stays one dimension when the sizes before it and its own do not change.
FailureOr<int64_t> ReshapeOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                              StringRef &why) {
  ArrayRef<int64_t> from = shapeOf(getX()), to = shapeOf(getResult());
  int64_t axis = *operandAxes[0], before = elementCount(from.take_front(axis));
  // Dimensions of size 1 could each be it: the one at its place is.
  if (axis < std::ssize(to) && to[axis] == from[axis] &&
      elementCount(to.take_front(axis)) == before)
    return axis;
  for (int64_t i = 0, product = 1; i < std::ssize(to); product *= to[i++])
    if (product == before && to[i] == from[axis])
      return i;
  why = "it mixes the sequence with another dimension";
  return failure();
}

// Where the dimension is not among those of the result.
SequenceUse ReshapeOp::getSequenceUse(unsigned, int64_t axis, unsigned) {
  return shapeOf(getX())[static_cast<size_t>(axis)] == 1
             ? SequenceUse::all("it drops the dimension of the sequence")
             : SequenceUse::unknown("it mixes the sequence with another dimension");
}
