//===- Dropout.h - values left out while training ----------------------------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace hybrid {

/// Makes products with drawn numbers of the dropout in a function that trains, and gives it an
/// input `seed` [2] if there is any: two words that differ from step to step.
llvm::LogicalResult drawDropout(mlir::func::FuncOp function);

} // namespace hybrid
