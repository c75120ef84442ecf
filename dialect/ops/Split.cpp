//===- Split.cpp - parts along a dimension, and joined again --------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"
#include <numeric>

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(SplitOp) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  int64_t axis = adaptor.getAxis(), total = 0;
  if (axis < 0 || axis >= static_cast<int64_t>(x.size()))
    return emitOptionalError(location, "split: axis ", axis, " is not a dimension of ",
                             shapeText(x)); // C2
  for (int64_t size : adaptor.getSizes()) {
    SmallVector<int64_t> shape(x);
    shape[axis] = size;
    if (size < 0 || llvm::AddOverflow(total, size, total))
      return emitOptionalError(location, "split: sizes = ", shapeText(adaptor.getSizes()),
                               ", expected those of parts of ", shapeText(x)); // C1
    types.push_back(tensorOf(shape, elementOf(adaptor.getX())));
  }
  if (!compatible(total, x[axis])) // C1
    return emitOptionalError(location, "split: sizes = ", shapeText(adaptor.getSizes()), " are ",
                             total, " in all, but x is ", shapeText(x), " with ", x[axis],
                             " along dimension ", axis);
  return success();
}

HYBRID_INFER(ConcatOp) {
  if (adaptor.getParts().empty())
    return emitOptionalError(location, "concat: nothing to put together"); // C2
  SmallVector<int64_t> shape(shapeOf(adaptor.getParts()[0]));
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
    return emitOptionalError(location, "concat: axis ", axis, " is not a dimension of ",
                             shapeText(shape)); // C2
  for (auto [number, part] : llvm::enumerate(adaptor.getParts())) {
    if (number == 0)
      continue;
    ArrayRef<int64_t> other = shapeOf(part);
    if (elementOf(part) != elementOf(adaptor.getParts()[0])) // C1
      return emitOptionalError(location, "concat: parts have elements of ",
                               elementOf(adaptor.getParts()[0]), " and ", elementOf(part));
    bool fits = other.size() == shape.size();
    for (size_t i = 0; fits && i < other.size(); ++i)
      fits = static_cast<int64_t>(i) == axis || compatible(other[i], shape[i]);
    if (!fits) // C1
      return emitOptionalError(location, "concat: the shape ", shapeText(other), " of parts[",
                               number, "] does not continue ",
                               shapeText(shapeOf(adaptor.getParts()[0])), ", that of parts[0], ",
                               "along dimension ", axis);
    bool known = !ShapedType::isDynamic(shape[axis]) && !ShapedType::isDynamic(other[axis]);
    shape[axis] = known ? shape[axis] + other[axis] : ShapedType::kDynamic;
    for (size_t i = 0; i < shape.size(); ++i)
      if (static_cast<int64_t>(i) != axis)
        shape[i] = refine(shape[i], other[i]);
  }
  return give(types, {tensorOf(shape, elementOf(adaptor.getParts()[0]))});
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getParts().size() == 1)
    return getParts()[0];
  // concat(split(x)) -> x
  auto split = getParts()[0].getDefiningOp<SplitOp>();
  if (split && split.getAxis() == getAxis() && getParts() == split.getParts() &&
      split.getX().getType() == getType())
    return split.getX();
  return {};
}

HYBRID_VJP(SplitOp) {
  SmallVector<Value> parts;
  for (auto [part, cotangent] : llvm::zip(getParts(), cotangents))
    parts.push_back(orZeros(builder, cotangent, part));
  return give(gradients, {ConcatOp::create(builder, getLoc(), parts, getAxis())});
}

HYBRID_VJP(ConcatOp) {
  SmallVector<int64_t> sizes;
  for (Value part : getParts())
    sizes.push_back(shapeOf(part)[getAxis()]);
  auto split = SplitOp::create(builder, getLoc(), cotangents[0], getAxis(), sizes);
  llvm::append_range(gradients, split.getParts());
  return success();
}

FailureOr<int64_t> SplitOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                            StringRef &why) {
  return alongSequenceAxis(operandAxes, static_cast<int64_t>(getAxis()), why);
}

FailureOr<int64_t> ConcatOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                             StringRef &why) {
  return alongSequenceAxis(operandAxes, static_cast<int64_t>(getAxis()), why);
}

// Along the dimension that is cut or joined.
SequenceUse SplitOp::getSequenceUse(unsigned, int64_t axis, unsigned result) {
  auto before = getSizes().take_front(result);
  return SequenceUse::same(axis, std::accumulate(before.begin(), before.end(), int64_t(0)));
}
SequenceUse ConcatOp::getSequenceUse(unsigned operand, int64_t axis, unsigned) {
  int64_t before = 0;
  for (Value part : getParts().take_front(operand))
    before += shapeOf(part)[static_cast<size_t>(axis)];
  return SequenceUse::same(axis, -before);
}
