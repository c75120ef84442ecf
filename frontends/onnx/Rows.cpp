//===- Rows.cpp - norms and softmax ------------------------------------------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"
#include <numeric>

using namespace mlir;

namespace hybrid::onnx::frontend {
namespace {

/// A weight of a norm, or nothing where it is 1 (or `neutral`) everywhere.
SmallVector<mlir::Value, 2> gain(const Node &node, size_t i, int64_t width, double neutral) {
  if (!node.has(i))
    return {};
  const Value &value = node.in(i);
  if (value.known && value.known->everywhere() == neutral)
    return {};
  mlir::Value tensor = node.tensor(i);
  if (countOf(value.shape) == 1 && width > 1)
    tensor = node.to.ops.broadcast(node.to.ops.reshape(tensor, {1}), {width});
  return {node.to.ops.reshape(tensor, {width})};
}

/// The dimensions from `axis` on as one.
mlir::Value asRows(const Node &node, int64_t axis, int64_t &width) {
  const Value &x = node.in(0);
  const auto place = static_cast<size_t>(axis);
  Shape shape(ArrayRef(x.shape).take_front(place));
  width = countOf(ArrayRef(x.shape).drop_front(place));
  shape.push_back(width);
  return node.to.ops.reshape(node.tensor(0), shape);
}

void convertLayerNorm(const Node &node) {
  Ops &ops = node.to.ops;
  int64_t width = 0;
  mlir::Value rows = asRows(node, node.axis("axis", -1, node.in(0).rank()), width);
  mlir::Value y = ops.add(LayerNormOp::getOperationName(),
                          {{rows}, gain(node, 1, width, 1), gain(node, 2, width, 0)},
                          {ops.number("epsilon", node.number("epsilon", 1e-5))})[0];
  node.give(ops.reshape(y, node.in(0).shape));
}

void convertRmsNorm(const Node &node) {
  Ops &ops = node.to.ops;
  int64_t width = 0;
  SmallVector<mlir::Value> operands{asRows(node, node.axis("axis", -1, node.in(0).rank()), width)};
  llvm::append_range(operands, gain(node, 1, width, 1));
  mlir::Value y =
      ops.one<RmsNormOp>(operands, {ops.number("epsilon", node.number("epsilon", 1e-5))});
  node.give(ops.reshape(y, node.in(0).shape));
}

/// Sums of exponentials, from the largest on.
void convertSoftmax(const Node &node) {
  Ops &ops = node.to.ops;
  const Value &x = node.in(0);
  const bool isOld = node.to.operatorSet < 13; // there all dimensions from the axis on
  const int64_t axis = node.axis("axis", isOld ? 1 : -1, x.rank());
  if (isOld && axis != x.rank() - 1)
    return node.fail("a softmax over several dimensions, as opsets below 13 mean it");
  if (axis == 0 && node.to.mixesSequences(x))
    return node.fail("a softmax over sequences");
  mlir::Value logits = node.tensor(0);
  mlir::Value most = ops.reduce(ReduceKind::Max, logits, {axis}, true);
  mlir::Value shifted = ops.binary(BinaryKind::Sub, logits, most);
  mlir::Value shares = ops.unary(UnaryKind::Exp, shifted);
  mlir::Value sum = ops.reduce(ReduceKind::Sum, shares, {axis}, true);
  node.give(node.proto.op_type() == "LogSoftmax"
                ? ops.binary(BinaryKind::Sub, shifted, ops.unary(UnaryKind::Log, sum))
                : ops.binary(BinaryKind::Div, shares, sum));
}

} // namespace

void addRows(Importer &to) {
  to.add("LayerNormalization", convertLayerNorm);
  to.add("RMSNormalization", convertRmsNorm);
  to.add("SimplifiedLayerNormalization", convertRmsNorm);
  to.add("Softmax", convertSoftmax);
  to.add("LogSoftmax", convertSoftmax);
}

} // namespace hybrid::onnx::frontend
