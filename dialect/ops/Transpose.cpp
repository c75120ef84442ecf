//===- Transpose.cpp - dimensions in another order ------------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(TransposeOp) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  SmallVector<bool> seen(x.size(), false);
  SmallVector<int64_t> shape;
  auto wrong = [&] {
    return emitOptionalError(location,
                             "transpose: permutation = ", shapeText(adaptor.getPermutation()),
                             ", but x is ", shapeText(x), ": expected each of its axes once");
  };
  for (int64_t axis : adaptor.getPermutation()) {
    if (axis < 0 || axis >= static_cast<int64_t>(x.size()) || seen[axis]) // C1
      return wrong();
    seen[axis] = true;
    shape.push_back(x[axis]);
  }
  if (shape.size() != x.size()) // C1
    return wrong();
  return give(types, {tensorOf(shape, elementOf(adaptor.getX()))});
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    if (axis != static_cast<int64_t>(i))
      return {};
  return getX();
}

HYBRID_VJP(TransposeOp) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    inverse[axis] = static_cast<int64_t>(i);
  return give(gradients, {TransposeOp::create(builder, getLoc(), cotangents[0],
                                              builder.getDenseI64ArrayAttr(inverse))});
}

FailureOr<int64_t> TransposeOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                                StringRef &) {
  return llvm::find(getPermutation(), *operandAxes[0]) - getPermutation().begin();
}
