//===- BindSizes.h - free dimensions and element types of a function ---------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace hybrid {

/// Gives the free dimensions B and L of a function of hybrid ops these sizes and all its numbers
/// the type `element`: types are inferred again from the arguments on. Fails with a diagnostic
/// where a free dimension has no size.
llvm::LogicalResult bindSizes(mlir::func::FuncOp function, int64_t batch, int64_t length,
                              mlir::Type element);

} // namespace hybrid
