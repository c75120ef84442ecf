//===- ReverseMode.h - gradients of a block of hybrid ops --------------------===//
//
// An op's interface knows its vector-Jacobian product; this only orders, accumulates and leaves out
// what nothing asks for.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace hybrid {

/// Whether it is a tensor of floating point numbers.
bool isFloat(mlir::Value value);

/// Gradients of values of one block with respect to values it starts from.
class ReverseMode {
public:
  explicit ReverseMode(mlir::OpBuilder &builder) : builder(builder) {}

  /// Everything computed from `root` may have a gradient.
  void require(mlir::Value root);
  void accumulate(mlir::Value value, mlir::Value cotangent, mlir::Location loc);
  /// Walks `ops` (in program order) backwards, building at the builder's insertion point. Fails
  /// with a message at an op that has no gradient.
  llvm::LogicalResult run(llvm::ArrayRef<mlir::Operation *> ops);
  /// The gradient of `value`, or zeros.
  mlir::Value gradientOf(mlir::Value value);

private:
  void add(mlir::Value value, mlir::Value cotangent, mlir::Location loc);
  /// All that `value` has got, or null.
  mlir::Value cotangentOf(mlir::Value value);

  mlir::OpBuilder &builder;
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
  /// Gradients of parts of a value: put together once they are all there, so that many parts take
  /// the memory of the parts.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<PadOp>> parts;
};

} // namespace hybrid
