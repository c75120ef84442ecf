//===- Shapes.cpp - views, parts and reductions ---------------------------------===//
#include "dialect/Shapes.h"
#include "codegen/onnx/Conversion.h"

using namespace mlir;

namespace hybrid::onnx {

static LogicalResult convertReshape(ReshapeOp op, Conversion &to) {
  to.define(op.getResult(), to.graph.reshape(to.of(op.getX()), shapeOf(op.getResult())));
  return success();
}

static LogicalResult convertTranspose(TransposeOp op, Conversion &to) {
  to.define(op.getResult(), to.graph.transpose(to.of(op.getX()), op.getPermutation()));
  return success();
}

static LogicalResult convertBroadcast(BroadcastOp op, Conversion &to) {
  to.define(op.getResult(), to.graph.expand(to.of(op.getX()), shapeOf(op.getResult())));
  return success();
}

static LogicalResult convertReverse(ReverseOp op, Conversion &to) {
  to.define(op.getResult(), to.graph.reverse(to.of(op.getX()), static_cast<int64_t>(op.getAxis())));
  return success();
}

static LogicalResult convertSlice(SliceOp op, Conversion &to) {
  Tensor part = to.of(op.getX());
  for (auto [axis, start] : llvm::enumerate(op.getStarts()))
    part = to.graph.slice(part, static_cast<int64_t>(axis), start, shapeOf(op.getResult())[axis]);
  to.define(op.getResult(), part);
  return success();
}

/// Nothing is left out of what an exported model computes.
static LogicalResult convertDropout(DropoutOp op, Conversion &to) {
  to.define(op.getResult(), to.of(op.getX()));
  return success();
}

static LogicalResult convertPad(PadOp op, Conversion &to) {
  ArrayRef<int64_t> inner = shapeOf(op.getX()), outer = shapeOf(op.getResult());
  SmallVector<int64_t> pads(op.getStarts());
  for (size_t axis = 0; axis < inner.size(); ++axis)
    pads.push_back(outer[axis] - inner[axis] - op.getStarts()[axis]);
  const Tensor &x = to.of(op.getX());
  to.define(op.getResult(), to.graph.node("Pad", {x, to.graph.integers(pads)}, outer, x.element));
  return success();
}

static LogicalResult convertSplit(SplitOp op, Conversion &to) {
  const auto axis = static_cast<int64_t>(op.getAxis());
  const Tensor &x = to.of(op.getX());
  SmallVector<Tensor> parts;
  for (Value part : op.getParts())
    parts.push_back({"", SmallVector<int64_t>(shapeOf(part)), x.element});
  to.graph.node("Split", {x, to.graph.integers(op.getSizes())}, parts, {{"axis", axis}});
  for (auto [part, tensor] : llvm::zip(op.getParts(), parts))
    to.define(part, tensor);
  return success();
}

static LogicalResult convertConcat(ConcatOp op, Conversion &to) {
  SmallVector<Tensor> parts;
  for (Value part : op.getParts())
    parts.push_back(to.of(part));
  to.define(op.getResult(), to.graph.concat(parts, static_cast<int64_t>(op.getAxis())));
  return success();
}

static StringRef operatorOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return "ReduceSum";
  case ReduceKind::Mean:
    return "ReduceMean";
  case ReduceKind::Max:
    return "ReduceMax";
  }
  llvm_unreachable("a reduction of another kind");
}

static LogicalResult convertReduce(ReduceOp op, Conversion &to) {
  const Tensor &x = to.of(op.getX());
  to.define(op.getResult(),
            op.getAxes().empty() // ONNX would take no axis for all of them
                ? x
                : to.graph.reduce(operatorOf(op.getKind()), x, op.getAxes(), op.getKeep()));
  return success();
}

void addShapes(Conversion &to) {
  to.add<ReshapeOp>(convertReshape);
  to.add<TransposeOp>(convertTranspose);
  to.add<BroadcastOp>(convertBroadcast);
  to.add<ReverseOp>(convertReverse);
  to.add<SliceOp>(convertSlice);
  to.add<DropoutOp>(convertDropout);
  to.add<PadOp>(convertPad);
  to.add<SplitOp>(convertSplit);
  to.add<ConcatOp>(convertConcat);
  to.add<ReduceOp>(convertReduce);
}

} // namespace hybrid::onnx
