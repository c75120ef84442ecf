//===- Gradients.h - small words to write gradients with --------------------===//
//
// Shared by the buildVjp implementations in ops/. The formulas are those of the ops' descriptions,
// which name the papers.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

namespace hybrid {

/// `cotangent`, or zeros where `result` has none.
mlir::Value orZeros(mlir::OpBuilder &builder, mlir::Value cotangent, mlir::Value result);

/// Appends a gradient for each operand of `op`: the next of `computed` for floating point ones,
/// null for integers.
void appendInOrder(mlir::Operation *op, mlir::ValueRange computed,
                   llvm::SmallVectorImpl<mlir::Value> &gradients);

/// Builds elementwise expressions at one location.
struct ExpressionBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value constant(double value, mlir::Value like) {
    return ConstantOp::create(builder, loc, tensorOf({}, elementOf(like)),
                              builder.getF64FloatAttr(value));
  }
  mlir::Value unary(UnaryKind kind, mlir::Value x) {
    return UnaryOp::create(builder, loc, kind, x);
  }
  mlir::Value binary(BinaryKind kind, mlir::Value a, mlir::Value b) {
    return BinaryOp::create(builder, loc, kind, a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return binary(BinaryKind::Mul, a, b); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, constant(b, a)); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return binary(BinaryKind::Add, a, b); }
  mlir::Value add(mlir::Value a, double b) { return add(a, constant(b, a)); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return binary(BinaryKind::Sub, a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return binary(BinaryKind::Div, a, b); }
  mlir::Value neg(mlir::Value a) { return unary(UnaryKind::Neg, a); }
  mlir::Value oneMinus(mlir::Value a) { return sub(constant(1, a), a); }
  mlir::Value reduce(ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> axes,
                     bool keep = false) {
    return ReduceOp::create(builder, loc, kind, x, axes, keep);
  }
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    return ReshapeOp::create(builder, loc, x, shapeAttr(builder.getContext(), shape));
  }
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    return BroadcastOp::create(builder, loc, x, shapeAttr(builder.getContext(), shape));
  }
  /// Sum of all leading dimensions: [..., n] -> [n].
  mlir::Value sumLeading(mlir::Value x);
  /// The adjoint of broadcasting: sums `gradient` down to `shape`.
  mlir::Value unbroadcast(mlir::Value gradient, llvm::ArrayRef<int64_t> shape);
};

} // namespace hybrid
