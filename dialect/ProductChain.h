//===- ProductChain.h - the parts of a chain of products --------------------===//
#pragma once
#include "dialect/HybridOps.h"

namespace hybrid {

/// What `hybrid.linear` without a bias and `hybrid.matmul` of rows with one matrix have in common.
struct RowsProduct {
  mlir::Operation *op;
  mlir::Value rows, weight;
  /// Whether the weight is [contracted, columns], not [columns, contracted].
  bool transposed;

  mlir::Value result() const { return op->getResult(0); }
};

/// Nothing for another op.
std::optional<RowsProduct> rowsProductOf(mlir::Operation *op);

/// The parts of the body of a `hybrid.product_chain`, in order.
struct ProductChainParts {
  llvm::SmallVector<RowsProduct> first;
  FusedOp function;
  llvm::SmallVector<RoundOp> rounded;
  llvm::SmallVector<RowsProduct> second;
  mlir::Value sum;
};

/// Fails with a message where the body is not what the op says.
mlir::FailureOr<ProductChainParts> partsOf(ProductChainOp op);

} // namespace hybrid
