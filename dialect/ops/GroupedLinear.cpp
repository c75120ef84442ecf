//===- GroupedLinear.cpp - each expert's projection of its own rows -------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(GroupedLinearOp) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  ArrayRef<int64_t> weight = shapeOf(adaptor.getWeight());
  if (weight.size() != 3) // C2
    return emitOptionalError(location, "grouped_linear: weight is ", shapeText(weight),
                             ", expected [experts, out, in]");
  int64_t in = weight[adaptor.getTransposed() ? 1 : 2],
          out = weight[adaptor.getTransposed() ? 2 : 1];
  if (shape.size() < 2 || !compatible(shape.back(), in)) // C1
    return emitOptionalError(location, "grouped_linear: weight takes ", in, " channels, but x is ",
                             shapeText(shape), ": expected [..., ", in, "]");
  shape.back() = out;
  return give(types, {tensorOf(shape, elementOf(adaptor.getX()))});
}

LogicalResult GroupedLinearOp::verify() {
  ArrayRef<int64_t> offsets = shapeOf(getOffsets()), weight = shapeOf(getWeight());
  if (weight.size() != 3) // C2
    return emitOpError() << "weight is " << shapeText(weight) << ", expected [experts, out, in]";
  int64_t experts = weight[0];
  if (offsets.size() != 1 || !compatible(offsets[0], experts + 1)) // C3
    return emitOpError() << "offsets is " << shapeText(offsets) << ", but there are " << experts
                         << " experts: expected [" << experts + 1 << "]";
  return success();
}

HYBRID_INFER(GroupedLinearGradOp) {
  ArrayRef<int64_t> offsets = shapeOf(adaptor.getOffsets());
  if (!sameLeading(adaptor.getX(), 1, adaptor.getCotangent(), 1)) // C1
    return emitOptionalError(location, "grouped_linear_grad: x is ",
                             shapeText(shapeOf(adaptor.getX())), " and the cotangent ",
                             shapeText(shapeOf(adaptor.getCotangent())),
                             ": expected equal sizes but the last");
  if (offsets.size() != 1 || offsets[0] < 2) // C2
    return emitOptionalError(location, "grouped_linear_grad: offsets is ", shapeText(offsets),
                             ", expected one more element than there are experts");
  return give(
      types, {tensorOf({offsets[0] - 1, lastSize(adaptor.getCotangent()), lastSize(adaptor.getX())},
                       elementOf(adaptor.getX()))});
}

// dx[r] = dy[r] W_e, dW_e = Σ dy[r]ᵀ x[r]; with transposed weights the two sides change places.
HYBRID_VJP(GroupedLinearOp) {
  Value dy = cotangents[0], x = getX();
  return give(
      gradients,
      {GroupedLinearOp::create(builder, getLoc(), dy, getWeight(), getOffsets(), !getTransposed()),
       getTransposed() ? GroupedLinearGradOp::create(builder, getLoc(), dy, x, getOffsets())
                       : GroupedLinearGradOp::create(builder, getLoc(), x, dy, getOffsets()),
       {}});
}

// Every row goes through one expert, whichever it is.
HYBRID_FLOPS(GroupedLinearOp, 2 * elementCount(getResult()) * lastSize(getX()), "2·B·L·k·in·out")

// A token meets the weights of the experts that it chose.
int64_t GroupedLinearOp::getActiveElements(OpOperand &operand) {
  int64_t all = elementCount(operand.get());
  auto route = getOffsets().getDefiningOp<RouteOp>();
  if (operand.get() != getWeight() || !route)
    return all;
  int64_t experts = route.getExperts();
  return all / experts * std::min(lastSize(route.getChoices()), experts);
}
HYBRID_FLOPS(GroupedLinearGradOp, 2 * elementCount(getX()) * lastSize(getCotangent()),
             "2·B·L·k·in·out")
