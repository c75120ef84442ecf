//===- Reduce.cpp - sum, mean or maximum over dimensions ------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(ReduceOp) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  SmallVector<bool> reduced(x.size(), false);
  int64_t previous = -1;
  for (int64_t axis : adaptor.getAxes()) {
    if (axis <= previous || axis >= static_cast<int64_t>(x.size())) // C1
      return emitOptionalError(location, "reduce: axis ", axis, " of ", shapeText(x),
                               ": axes must be ascending and within the rank");
    reduced[previous = axis] = true;
  }
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!reduced[i])
      shape.push_back(x[i]);
    else if (adaptor.getKeep())
      shape.push_back(1);
  }
  return give(types, {tensorOf(shape, elementOf(adaptor.getX()))});
}

HYBRID_VJP(ReduceOp) {
  ExpressionBuilder e{builder, getLoc()};
  SmallVector<int64_t> kept(shapeOf(getX()));
  int64_t count = 1;
  for (int64_t axis : getAxes()) {
    count *= kept[axis];
    kept[axis] = 1;
  }
  auto keep = [&](Value value) {
    return shapeOf(value) == ArrayRef(kept) ? value : e.reshape(value, kept);
  };
  Value dy = keep(cotangents[0]);
  switch (getKind()) {
  case ReduceKind::Mean:
    dy = e.mul(dy, 1.0 / static_cast<double>(count));
    [[fallthrough]];
  case ReduceKind::Sum:
    gradients.push_back(e.broadcast(dy, shapeOf(getX())));
    break;
  case ReduceKind::Max: { // shared equally among the maxima
    Value hit = e.binary(BinaryKind::Equal, getX(), keep(getResult()));
    Value share = e.div(dy, e.reduce(ReduceKind::Sum, hit, getAxes(), true));
    gradients.push_back(e.mul(hit, share));
    break;
  }
  }
  return success();
}

// A sum over all positions, as the gradient of a bias is.
bool ReduceOp::isRowwise() {
  ArrayRef<int64_t> x = shapeOf(getX());
  return getKind() != ReduceKind::Max && x.size() > 1 && x.back() > 1 &&
         getAxes().size() == x.size() - 1 && getAxes().back() == static_cast<int64_t>(x.size()) - 2;
}
bool ReduceOp::isRowResult(unsigned) { return false; }

HYBRID_FLOPS(ReduceOp, elementCount(getX()), "elements of the operand")

FailureOr<int64_t> ReduceOp::getSequenceAxis(ArrayRef<std::optional<int64_t>> operandAxes,
                                             StringRef &why) {
  int64_t axis = *operandAxes[0], lower = 0;
  for (int64_t reduced : getAxes()) {
    if (reduced == axis) {
      why = "it needs all positions";
      return failure();
    }
    lower += reduced < axis;
  }
  return getKeep() ? axis : axis - lower;
}

// Along a dimension that is reduced. A maximum is often taken away again, as in a softmax.
SequenceUse ReduceOp::getSequenceUse(unsigned, int64_t, unsigned) {
  StringRef why = "it needs all positions";
  return getKind() == ReduceKind::Max ? SequenceUse::unknown(why) : SequenceUse::all(why);
}
