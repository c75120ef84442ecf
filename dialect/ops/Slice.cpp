//===- Slice.cpp - a rectangular part, and zeros around it ----------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/SequenceRules.h"

using namespace mlir;
using namespace hybrid;

/// Whether a part of that shape that starts at `starts` lies in the whole, as far as sizes are
/// known. In a dimension that is free a start may count from the end.
static bool liesIn(ArrayRef<int64_t> whole, ArrayRef<int64_t> part, ArrayRef<int64_t> starts) {
  if (part.size() != whole.size() || starts.size() != whole.size())
    return false;
  return llvm::all_of(llvm::zip(whole, part, starts), [](auto sizes) {
    auto [all, some, start] = sizes;
    if (ShapedType::isDynamic(all))
      return start >= 0 || ShapedType::isDynamic(some) || some <= -start;
    return start >= 0 && (ShapedType::isDynamic(some) || start <= all - some);
  });
}

HYBRID_INFER(SliceOp) {
  return give(types, {tensorOf(sizesOf(adaptor.getSizes()), elementOf(adaptor.getX()))});
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getX()), part = shapeOf(getResult());
  if (liesIn(x, part, getStarts())) // C1
    return success();
  return emitOpError() << "part " << shapeText(part) << " from " << shapeText(getStarts())
                       << " is not inside " << shapeText(x);
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  return getX().getType() == type && type.hasStaticShape() ? OpFoldResult(getX()) : OpFoldResult();
}

HYBRID_INFER(PadOp) {
  return give(types, {tensorOf(sizesOf(adaptor.getShape()), elementOf(adaptor.getX()))});
}

LogicalResult PadOp::verify() {
  if (llvm::any_of(getStarts(), [](int64_t start) { return start < 0; }) ||
      !liesIn(shapeOf(getResult()), shapeOf(getX()), getStarts())) // C1
    return emitOpError() << shapeText(shapeOf(getX())) << " at " << shapeText(getStarts())
                         << " does not fit in " << shapeText(shapeOf(getResult()));
  return success();
}

HYBRID_VJP(SliceOp) {
  return give(gradients, {PadOp::create(builder, getLoc(), cotangents[0], getStartsAttr(),
                                        shapeAttr(getContext(), shapeOf(getX())))});
}

HYBRID_VJP(PadOp) {
  return give(gradients, {SliceOp::create(builder, getLoc(), cotangents[0], getStartsAttr(),
                                          shapeAttr(getContext(), shapeOf(getX())))});
}

/// A part of the sequence is no sequence, and zeros around it shift it.
static FailureOr<int64_t>
wholeSequence(Value x, Value result, ArrayRef<std::optional<int64_t>> operandAxes, StringRef &why) {
  int64_t axis = *operandAxes[0];
  return alongSequenceAxis(operandAxes, shapeOf(x)[axis] == shapeOf(result)[axis] ? -1 : axis, why);
}
FailureOr<int64_t> SliceOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                            StringRef &why) {
  return wholeSequence(getX(), getResult(), operandAxes, why);
}
FailureOr<int64_t> PadOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                          StringRef &why) {
  return wholeSequence(getX(), getResult(), operandAxes, why);
}

// A table that is cut to the length, such as the positions of a filter, is long enough, and a part
// of the sequence is inside it.
LogicalResult SliceOp::verifySizes(const llvm::StringMap<int64_t> &sizes) {
  for (auto [axis, size] : llvm::enumerate(getSizes())) {
    // What it is cut from has its size by now.
    const int64_t whole = shapeOf(getX())[axis], start = getStarts()[axis];
    const auto name = dyn_cast<StringAttr>(size);
    const int64_t taken =
        name ? boundSize(name.getValue(), sizes).value_or(0) : cast<IntegerAttr>(size).getInt();
    if (start >= 0 ? taken <= whole - start : -start <= whole)
      continue;
    if (name && taken > 0)
      return emitError() << "too long: " << name.getValue() << " = " << taken
                         << " positions are taken of " << whole
                         << ". Compile for a shorter length, or make this longer where it is "
                            "declared (l_max, in the layers of the library)";
    const int64_t needed = start >= 0 ? start + taken : -start;
    return emitError() << "too short: " << needed << " positions are needed, but there are "
                       << whole << ". Compile for a longer length";
  }
  return success();
}

void SliceOp::placeEnds() {
  SmallVector<int64_t> starts(getStarts());
  for (auto [start, whole] : llvm::zip_equal(starts, shapeOf(getX())))
    start += start < 0 ? whole : 0;
  setStarts(starts);
}

SequenceUse SliceOp::getSequenceUse(unsigned, int64_t axis, unsigned) {
  return SequenceUse::same(axis, getStarts()[static_cast<size_t>(axis)]);
}
SequenceUse PadOp::getSequenceUse(unsigned, int64_t axis, unsigned) {
  return SequenceUse::same(axis, -getStarts()[static_cast<size_t>(axis)]);
}
