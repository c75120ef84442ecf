//===- Products.cpp - matrix products ------------------------------------------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"

using namespace mlir;

namespace hybrid::onnx::frontend {

static Shape outer(ArrayRef<int64_t> shape) { return Shape(shape.drop_back(2)); }

mlir::Value product(Importer &to, mlir::Value a, mlir::Value b) {
  Ops &ops = to.ops;
  if (shapeOf(a).size() < 2 || shapeOf(b).size() < 2) {
    ops.fail("a product of " + shapeText(shapeOf(a)) + " and " + shapeText(shapeOf(b)));
    return a;
  }
  const Shape shapeA(shapeOf(a)), shapeB(shapeOf(b));
  auto leading = broadcastShapes(outer(shapeA), outer(shapeB));
  if (!leading || shapeA.back() != shapeB[shapeB.size() - 2]) {
    ops.fail("a product of " + shapeText(shapeA) + " and " + shapeText(shapeB));
    return a;
  }
  const int64_t m = shapeA[shapeA.size() - 2], k = shapeA.back(), n = shapeB.back();
  Shape shape(*leading);
  shape.append({m, n});
  if (countOf(outer(shapeB)) == 1) // the same matrix for all
    return ops.reshape(ops.one<MatmulOp>({a, ops.reshape(b, {k, n})}), shape);
  if (to.isInBody()) { // element by element
    Shape left(shapeA), right(shapeB);
    left.push_back(1);
    right.insert(right.end() - 2, 1);
    mlir::Value all = ops.binary(BinaryKind::Mul, ops.reshape(a, left), ops.reshape(b, right));
    return ops.reduce(ReduceKind::Sum, all, {static_cast<int64_t>(shape.size()) - 1}, false);
  }
  Shape wholeA(*leading), wholeB(*leading);
  wholeA.append({m, k}), wholeB.append({k, n});
  a = ops.broadcast(a, wholeA), b = ops.broadcast(b, wholeB);
  return ops.fault.empty() ? ops.one<MatmulOp>({a, b}) : a;
}

namespace {

void convertMatMul(const Node &node) {
  Ops &ops = node.to.ops;
  if (convertAttentionPattern(node))
    return;
  mlir::Value a = node.tensor(0), b = node.tensor(1);
  // Vectors are rows and columns, which are left out of the result.
  const bool isRow = shapeOf(a).size() == 1, isColumn = shapeOf(b).size() == 1;
  if (isRow)
    a = ops.reshape(a, {1, shapeOf(a)[0]});
  if (isColumn)
    b = ops.reshape(b, {shapeOf(b)[0], 1});
  mlir::Value y = product(node.to, a, b);
  if (!ops.fault.empty())
    return;
  Shape shape(shapeOf(y));
  if (isColumn && !shape.empty())
    shape.pop_back();
  if (isRow && !shape.empty())
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  node.give(ops.reshape(y, shape));
}

/// Rows that a reshape made are multiplied as they were before it, so that sequences stay apart.
mlir::Value beforeFlattening(mlir::Value rows) {
  auto reshape = rows.getDefiningOp<ReshapeOp>();
  if (!reshape || shapeOf(reshape.getX()).size() < 2 || lastSize(reshape.getX()) != lastSize(rows))
    return rows;
  return reshape.getX();
}

void convertGemm(const Node &node) {
  Ops &ops = node.to.ops;
  mlir::Value a = node.tensor(0), b = node.tensor(1);
  if (shapeOf(a).size() != 2 || shapeOf(b).size() != 2)
    return node.fail("a product of " + shapeText(shapeOf(a)) + " and " + shapeText(shapeOf(b)));
  const double alpha = node.number("alpha", 1), beta = node.number("beta", 1);
  const bool ofColumns = node.integer("transB", 0) != 0;
  if (node.integer("transA", 0) != 0)
    a = ops.transpose(a, {1, 0});
  if (!ops.fault.empty())
    return;
  const Shape shape{shapeOf(a)[0], shapeOf(b)[ofColumns ? 0 : 1]};
  a = beforeFlattening(a);
  SmallVector<mlir::Value, 2> bias;
  const bool hasBias = node.has(2) && beta != 0;
  if (hasBias && ofColumns && alpha == 1 && beta == 1 &&
      ArrayRef(node.in(2).shape) == ArrayRef<int64_t>{shape[1]})
    bias.push_back(node.tensor(2));
  SmallVector<mlir::Value> operands{a, b};
  llvm::append_range(operands, bias);
  mlir::Value y = ofColumns ? ops.one<LinearOp>(operands) : ops.one<MatmulOp>({a, b});
  y = ops.times(ops.reshape(y, shape), alpha);
  if (hasBias && bias.empty())
    y = ops.binary(BinaryKind::Add, y, ops.times(node.tensor(2), beta));
  node.give(y);
}

} // namespace

void addProducts(Importer &to) {
  to.add("MatMul", convertMatMul);
  to.add("Gemm", convertGemm);
}

} // namespace hybrid::onnx::frontend
