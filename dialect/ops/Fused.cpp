//===- Fused.cpp - elementwise ops as one kernel --------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult FusedOp::verify() {
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

// Row by row when no operand is repeated over some of the leading dimensions only. What waits for a
// number to be finite writes in place, behind all that reads what was there.
bool FusedOp::isRowwise() {
  if ((*this)->hasAttr("hybrid.if_finite"))
    return false;
  ArrayRef<int64_t> shape = shapeOf(getResult(0));
  if (shape.size() < 2 || shape.back() < 2)
    return false;
  for (unsigned i = 0; i < getNumOperands(); ++i) {
    ArrayRef<int64_t> operand = shapeOf(getOperand(i));
    bool shared = operand.empty() ||
                  llvm::all_of(operand.drop_back(), [](int64_t size) { return size == 1; });
    if (!shared && !isRowOperand(i))
      return false;
  }
  return true;
}
int64_t FusedOp::getRowCount() { return elementCount(shapeOf(getResult(0)).drop_back()); }

bool FusedOp::isRowOperand(unsigned index) {
  ArrayRef<int64_t> shape = shapeOf(getResult(0)), operand = shapeOf(getOperand(index));
  return operand.size() == shape.size() && operand.drop_back() == shape.drop_back();
}
