//===- Gradients.cpp - small words to write gradients with ------------------===//
#include "dialect/Gradients.h"
#include <numeric>

using namespace mlir;
using namespace hybrid;

Value hybrid::orZeros(OpBuilder &builder, Value cotangent, Value result) {
  if (cotangent)
    return cotangent;
  return ConstantOp::create(builder, result.getLoc(), result.getType(), builder.getF64FloatAttr(0));
}

void hybrid::appendInOrder(Operation *op, ValueRange computed, SmallVectorImpl<Value> &gradients) {
  auto next = computed.begin();
  for (Value operand : op->getOperands())
    gradients.push_back(isa<FloatType>(elementOf(operand)) ? Value(*next++) : Value());
}

Value ExpressionBuilder::sumLeading(Value x) {
  SmallVector<int64_t> axes(shapeOf(x).size() - 1);
  std::iota(axes.begin(), axes.end(), 0);
  return axes.empty() ? x : reduce(ReduceKind::Sum, x, axes);
}

Value ExpressionBuilder::unbroadcast(Value gradient, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(gradient);
  if (from == shape)
    return gradient;
  size_t shift = from.size() - shape.size();
  SmallVector<int64_t> axes;
  for (size_t i = 0; i < from.size(); ++i)
    if (i < shift || (shape[i - shift] == 1 && from[i] != 1))
      axes.push_back(static_cast<int64_t>(i));
  Value sum = axes.empty() ? gradient : reduce(ReduceKind::Sum, gradient, axes);
  return shapeOf(sum) == shape ? sum : reshape(sum, shape);
}
