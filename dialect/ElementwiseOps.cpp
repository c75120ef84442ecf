//===- ElementwiseOps.cpp - rules of elementwise ops and reductions ---------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult UnaryOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

OpFoldResult UnaryOp::fold(FoldAdaptor) {
  // neg(neg(x)) -> x
  if (getKind() == UnaryKind::Neg)
    if (auto inner = getX().getDefiningOp<UnaryOp>(); inner && inner.getKind() == UnaryKind::Neg)
      return inner.getX();
  return {};
}

LogicalResult BinaryOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto shape = broadcastShapes(shapeOf(adaptor.getLhs()), shapeOf(adaptor.getRhs()));
  if (!shape) // C1
    return emitOptionalError(location, "shapes ", shapeText(shapeOf(adaptor.getLhs())), " and ",
                             shapeText(shapeOf(adaptor.getRhs())), " do not broadcast");
  types.push_back(tensorOf(*shape, elementOf(adaptor.getLhs())));
  return success();
}

OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  auto scalar = [](Attribute attribute) -> std::optional<double> {
    if (auto value = dyn_cast_or_null<FloatAttr>(attribute))
      return value.getValueAsDouble();
    return std::nullopt;
  };
  std::optional<double> lhs = scalar(adaptor.getLhs()), rhs = scalar(adaptor.getRhs());
  // x * 1, x / 1, x + 0, x - 0 -> x; 1 * x, 0 + x -> x
  double neutral = getKind() == BinaryKind::Mul || getKind() == BinaryKind::Div ? 1 : 0;
  bool foldable = getKind() == BinaryKind::Add || getKind() == BinaryKind::Sub ||
                  getKind() == BinaryKind::Mul || getKind() == BinaryKind::Div;
  if (foldable && rhs && *rhs == neutral && getLhs().getType() == getType())
    return getLhs();
  if ((getKind() == BinaryKind::Add || getKind() == BinaryKind::Mul) && lhs && *lhs == neutral &&
      getRhs().getType() == getType())
    return getRhs();
  return {};
}

LogicalResult RoundOp::verify() {
  if (!compatibleShapes(shapeOf(getX()), shapeOf(getResult()))) // C1
    return emitOpError() << "x is " << shapeText(shapeOf(getX())) << ", but the result is "
                         << shapeText(shapeOf(getResult()));
  return success();
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
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
  types.push_back(tensorOf(shape, elementOf(adaptor.getX())));
  return success();
}

/// What all ops with a body have: its arguments are the operands, it yields the results (C1, C2).
static LogicalResult verifyBody(Operation *op) {
  Block &block = op->getRegion(0).front();
  if (block.getArgumentTypes() != op->getOperandTypes()) // C1
    return op->emitOpError() << "operands are of types (" << op->getOperandTypes()
                             << "), but the body takes (" << block.getArgumentTypes() << ")";
  auto yield = block.empty() ? nullptr : dyn_cast<YieldOp>(block.back());
  if (!yield) // C2
    return op->emitOpError() << "body must end with hybrid.yield";
  if (yield.getOperandTypes() != op->getResultTypes()) // C2
    return op->emitOpError() << "results are of types (" << op->getResultTypes()
                             << "), but the body yields (" << yield.getOperandTypes() << ")";
  return success();
}

LogicalResult RowTilesOp::verify() {
  if (failed(verifyBody(*this)))
    return failure();
  auto rows = static_cast<int64_t>(getRows()), tile = static_cast<int64_t>(getTile());
  if (tile < 1 || tile > rows) // C4
    return emitOpError() << "has tiles of " << tile << " rows of " << rows;
  Block &block = getBody().front();
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    auto rowwise = dyn_cast<RowwiseOp>(op);
    if (!rowwise || !rowwise.isRowwise() || rowwise.getRowCount() != rows) { // C3
      InFlightDiagnostic diagnostic = emitOpError() << "body holds '" << op.getName()
                                                    << "', expected ops that work on " << rows
                                                    << " rows, and constants";
      diagnostic.attachNote(op.getLoc()) << "the op is here";
      return diagnostic;
    }
    if (rowwise.accumulatesOverRows() && !getSequential()) // C5
      return emitOpError() << "has tiles in parallel, but '" << op.getName()
                           << "' accumulates over rows: make it sequential";
    for (OpResult result : op.getResults())
      if (!rowwise.isRowResult(result.getResultNumber()))
        for (Operation *user : result.getUsers())
          if (user != block.getTerminator()) // C5
            return emitOpError() << "uses a sum over rows of '" << op.getName()
                                 << "' inside the body, where it is not complete";
  }
  return success();
}

LogicalResult FusedOp::verify() {
  if (failed(verifyBody(*this)))
    return failure();
  Block &block = getBody().front();
  for (Operation &op : block.without_terminator())
    if (!op.hasTrait<FusableElementwise>() && !isa<ConstantOp>(op)) { // C3
      InFlightDiagnostic diagnostic = emitOpError()
                                      << "body holds '" << op.getName()
                                      << "', expected elementwise ops and constants only";
      diagnostic.attachNote(op.getLoc()) << "the op is here";
      return diagnostic;
    }
  if (getNumResults() == 0) // C4
    return emitOpError() << "has no result";
  ArrayRef<int64_t> first = shapeOf(getResult(0));
  for (Value result : getResults())
    if (shapeOf(result) != first) // C4
      return emitOpError() << "has results of shapes " << shapeText(first) << " and "
                           << shapeText(shapeOf(result)) << ", expected one shape";
  return success();
}
