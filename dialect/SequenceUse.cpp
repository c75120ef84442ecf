//===- SequenceUse.cpp - which positions of a sequence a result reads --------===//
#include "dialect/SequenceUse.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

#include "dialect/SequenceInterfaces.cpp.inc"

namespace {

/// Of an op that declares where the sequence is in its results when each position stays alone.
FailureOr<int64_t> declaredAxis(Operation *op, unsigned operand, int64_t axis, StringRef &why) {
  auto declared = dyn_cast<SequenceAxisOp>(op);
  if (!declared)
    return failure();
  SmallVector<std::optional<int64_t>> axes(op->getNumOperands());
  axes[operand] = axis;
  FailureOr<int64_t> found = declared.getSequenceAxis(axes, why);
  if (succeeded(found))
    return found;
  // What joins its operands asks for the sequence in all of them.
  std::fill(axes.begin(), axes.end(), axis);
  StringRef ignored;
  return op->getNumOperands() > 1 ? declared.getSequenceAxis(axes, ignored) : found;
}

SequenceUse rowUse(RowwiseOp op, unsigned operand, int64_t axis, unsigned result) {
  if (!op.isRowOperand(operand) || axis + 1 == std::ssize(shapeOf(op->getOperand(operand))))
    return SequenceUse::all("positions meet other positions");
  return op.isRowResult(result) ? SequenceUse::same(axis)
                                : SequenceUse::all("it sums over positions");
}

SequenceUse statefulUse(Operation *op, unsigned operand, int64_t axis, unsigned result) {
  if (result > 0)
    return SequenceUse::all("it is the state after all positions");
  // Weights have other sizes, or two dimensions.
  Value x = op->getOperand(operand);
  ArrayRef<int64_t> sizes = shapeOf(x), whole = shapeOf(op->getResult(0));
  const bool along = sizes.size() > 1 && sizes.take_front(2) == whole.take_front(2) &&
                     (sizes.size() > 2 || elementOf(x).isInteger());
  return axis == 1 && along ? SequenceUse::past(1)
                            : SequenceUse::unknown("the sequence is not its second dimension");
}

} // namespace

SequenceUse hybrid::leadingSequenceUse(Value operand, int64_t axis) {
  return axis + 1 == std::ssize(shapeOf(operand))
             ? SequenceUse::all("positions meet other positions")
             : SequenceUse::same(axis);
}

SequenceUse hybrid::sequenceUseOf(Operation *op, unsigned operand, int64_t axis, unsigned result) {
  if (op->hasTrait<FusableElementwise>()) // operands are broadcast from their last dimension
    return SequenceUse::same(axis + std::ssize(shapeOf(op->getResult(result))) -
                             std::ssize(shapeOf(op->getOperand(operand))));
  StringRef why = "positions may meet other positions";
  if (FailureOr<int64_t> found = declaredAxis(op, operand, axis, why); succeeded(found))
    return SequenceUse::same(*found);
  if (auto positions = dyn_cast<PositionsOp>(op))
    return positions.getSequenceUse(operand, axis, result);
  if (auto row = dyn_cast<RowwiseOp>(op); row && row.isRowwise())
    return rowUse(row, operand, axis, result);
  if (isa<StatefulOp>(op))
    return statefulUse(op, operand, axis, result);
  return SequenceUse::unknown(why);
}
