//===- Rowwise.cpp - which operands and results have rows -------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

// With transpose_a rows are contracted: every row adds to the whole result.
bool MatmulOp::isRowOperand(unsigned index) { return index == 0 || getTransposeA(); }
bool MatmulOp::isRowResult(unsigned) { return !getTransposeA(); }
bool MatmulOp::accumulatesOverRows() { return getTransposeA(); }

bool RmsNormGradOp::isRowOperand(unsigned index) { return getOperand(index) != getWeight(); }
bool RmsNormGradOp::isRowResult(unsigned index) { return index == 0; }
bool LayerNormGradOp::isRowOperand(unsigned index) { return getOperand(index) != getWeight(); }
bool LayerNormGradOp::isRowResult(unsigned index) { return index == 0; }

bool CrossEntropyOp::isRowOperand(unsigned) { return true; }
bool CrossEntropyOp::isRowResult(unsigned) { return false; }
bool CrossEntropyGradOp::isRowOperand(unsigned index) {
  return getOperand(index) != getTotalWeight() && getOperand(index) != getCotangent();
}

// A sum over all positions, as the gradient of a bias is.
bool ReduceOp::isRowwise() {
  ArrayRef<int64_t> x = shapeOf(getX());
  return getKind() != ReduceKind::Max && x.size() > 1 && x.back() > 1 &&
         getAxes().size() == x.size() - 1 && getAxes().back() == static_cast<int64_t>(x.size()) - 2;
}
bool ReduceOp::isRowResult(unsigned) { return false; }

// Row by row when no operand is repeated over some of the leading dimensions only.
bool FusedOp::isRowwise() {
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
