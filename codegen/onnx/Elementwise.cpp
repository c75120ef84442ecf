//===- Elementwise.cpp - functions of elements, and constants ------------------===//
#include "codegen/onnx/Conversion.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::onnx {

static LogicalResult convertUnary(UnaryOp op, Conversion &to) {
  to.define(op.getResult(), scalar::valueOf(op.getKind(), to.formula(op.getX())));
  return success();
}

static LogicalResult convertBinary(BinaryOp op, Conversion &to) {
  to.define(op.getResult(),
            scalar::valueOf(op.getKind(), to.formula(op.getLhs()), to.formula(op.getRhs())));
  return success();
}

static LogicalResult convertConstant(ConstantOp op, Conversion &to) {
  to.define(op.getResult(),
            to.graph.full(op.getValue().convertToDouble(), shapeOf(op.getResult())));
  return success();
}

static LogicalResult convertIota(IotaOp op, Conversion &to) {
  const double start = op.getStart().convertToDouble(), step = op.getStep().convertToDouble();
  SmallVector<double> values;
  for (int64_t i = 0; i < elementCount(op.getResult()); ++i)
    values.push_back(start + static_cast<double>(i) * step);
  to.define(op.getResult(), to.graph.constant(shapeOf(op.getResult()), values));
  return success();
}

void addElementwise(Conversion &to) {
  to.add<UnaryOp>(convertUnary);
  to.add<BinaryOp>(convertBinary);
  to.add<ConstantOp>(convertConstant);
  to.add<IotaOp>(convertIota);
}

} // namespace hybrid::onnx
