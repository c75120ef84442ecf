//===- PartSums.h - sums of tensors that are zero around a part -------------===//
#pragma once
#include "dialect/HybridOps.h"

namespace hybrid {

/// Tensors whose sum is that of `parts`, which have one shape: parts that lie beside each other are
/// joined, so that there are as few as can be: one where no parts overlap but equal ones.
llvm::SmallVector<mlir::Value> sumOfParts(mlir::OpBuilder &builder, llvm::ArrayRef<PadOp> parts);

} // namespace hybrid
