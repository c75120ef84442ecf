//===- ShapeOps.cpp - rules of ops that rearrange ---------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

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

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  SmallVector<bool> seen(x.size(), false);
  SmallVector<int64_t> shape;
  for (int64_t axis : adaptor.getPermutation()) {
    if (axis < 0 || axis >= static_cast<int64_t>(x.size()) || seen[axis]) // C1
      return emitOptionalError(location, "transpose: axis ", axis,
                               " is out of range or repeated for ", shapeText(x));
    seen[axis] = true;
    shape.push_back(x[axis]);
  }
  if (shape.size() != x.size()) // C1
    return emitOptionalError(location, "transpose: ", shape.size(), " axes given for ",
                             shapeText(x));
  types.push_back(tensorOf(shape, elementOf(adaptor.getX())));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    if (axis != static_cast<int64_t>(i))
      return {};
  return getX();
}

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(sizesOf(adaptor.getShape()), elementOf(adaptor.getX())));
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto shape = broadcastShapes(shapeOf(getX()), shapeOf(getResult()));
  bool fits = shape && shape->size() == shapeOf(getResult()).size();
  for (size_t i = 0; fits && i < shape->size(); ++i)
    fits = compatible((*shape)[i], shapeOf(getResult())[i]);
  if (!fits) // C1
    return emitOpError() << shapeText(shapeOf(getX())) << " does not broadcast to "
                         << shapeText(shapeOf(getResult()));
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  return getX().getType() == type && type.hasStaticShape() ? OpFoldResult(getX()) : OpFoldResult();
}

LogicalResult SplitOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  int64_t axis = adaptor.getAxis(), total = 0;
  if (axis < 0 || axis >= static_cast<int64_t>(x.size()))
    return emitOptionalError(location, "split: axis ", axis, " is not a dimension of ",
                             shapeText(x)); // C2
  for (int64_t size : adaptor.getSizes()) {
    SmallVector<int64_t> shape(x);
    shape[axis] = size;
    total += size;
    types.push_back(tensorOf(shape, elementOf(adaptor.getX())));
  }
  if (!compatible(total, x[axis])) // C1
    return emitOptionalError(location, "split: parts of ", total, " in all, but dimension ", axis,
                             " of ", shapeText(x), " has ", x[axis]);
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (adaptor.getParts().empty())
    return emitOptionalError(location, "concat: nothing to put together"); // C2
  SmallVector<int64_t> shape(shapeOf(adaptor.getParts()[0]));
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
    return emitOptionalError(location, "concat: axis ", axis, " is not a dimension of ",
                             shapeText(shape)); // C2
  for (Value part : adaptor.getParts().drop_front()) {
    ArrayRef<int64_t> other = shapeOf(part);
    if (elementOf(part) != elementOf(adaptor.getParts()[0])) // C1
      return emitOptionalError(location, "concat: parts have elements of ",
                               elementOf(adaptor.getParts()[0]), " and ", elementOf(part));
    bool fits = other.size() == shape.size();
    for (size_t i = 0; fits && i < other.size(); ++i)
      fits = static_cast<int64_t>(i) == axis || compatible(other[i], shape[i]);
    if (!fits) // C1
      return emitOptionalError(location, "concat: ", shapeText(other), " does not continue ",
                               shapeText(shape), " along dimension ", axis);
    bool known = !ShapedType::isDynamic(shape[axis]) && !ShapedType::isDynamic(other[axis]);
    shape[axis] = known ? shape[axis] + other[axis] : ShapedType::kDynamic;
    for (size_t i = 0; i < shape.size(); ++i)
      if (static_cast<int64_t>(i) != axis)
        shape[i] = refine(shape[i], other[i]);
  }
  types.push_back(tensorOf(shape, elementOf(adaptor.getParts()[0])));
  return success();
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

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(sizesOf(adaptor.getSizes()), elementOf(adaptor.getX())));
  return success();
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getX()), part = shapeOf(getResult()), starts = getStarts();
  bool fits = part.size() == x.size() && starts.size() == x.size();
  for (size_t i = 0; fits && i < x.size(); ++i)
    fits = starts[i] >= 0 && (ShapedType::isDynamic(x[i]) || ShapedType::isDynamic(part[i]) ||
                              starts[i] <= x[i] - part[i]);
  if (!fits) // C1
    return emitOpError() << "part " << shapeText(part) << " from " << shapeText(starts)
                         << " is not inside " << shapeText(x);
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  return getX().getType() == type && type.hasStaticShape() ? OpFoldResult(getX()) : OpFoldResult();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(sizesOf(adaptor.getShape()), elementOf(adaptor.getX())));
  return success();
}

LogicalResult PadOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getX()), whole = shapeOf(getResult()), starts = getStarts();
  bool fits = whole.size() == x.size() && starts.size() == x.size();
  for (size_t i = 0; fits && i < x.size(); ++i)
    fits = starts[i] >= 0 && (ShapedType::isDynamic(x[i]) || ShapedType::isDynamic(whole[i]) ||
                              starts[i] <= whole[i] - x[i]);
  if (!fits) // C1
    return emitOpError() << shapeText(x) << " at " << shapeText(starts) << " does not fit in "
                         << shapeText(whole);
  return success();
}

//===-- reverse --------------------------------------------------------------===//

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto axis = static_cast<int64_t>(adaptor.getAxis());
  if (axis < 0 || axis >= static_cast<int64_t>(shapeOf(adaptor.getX()).size())) // C1
    return emitOptionalError(location, "reverse: axis = ", axis, ", but x is ",
                             shapeText(shapeOf(adaptor.getX())));
  types.push_back(adaptor.getX().getType());
  return success();
}
