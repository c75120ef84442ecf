//===- Identity.h - regions that give what they take -------------------------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"

namespace hybrid {

/// A body that yields its one argument, an element of a tensor of `shape`.
mlir::Block &addIdentity(mlir::Region &region, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                         mlir::Location loc);

/// A copy as a region, in the place of the copy: its two sides may be seen as different types, and
/// a kernel may have it in its store.
ComputeOp makeCompute(CopyOp copy);

} // namespace hybrid
