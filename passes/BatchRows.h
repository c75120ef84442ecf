//===- BatchRows.h - whether the sequences of a batch meet -------------------===//
#pragma once
#include "dialect/HybridOps.h"

namespace hybrid {

/// Fails after an error at the op in which one sequence of a batch has a part in what another
/// becomes, as the mean over a batch: on several ranks each would have that of its own batch. Of a
/// function with sizes bound, whose inputs are [batch, ...].
mlir::LogicalResult checkRowsAreAlone(mlir::func::FuncOp forward);

} // namespace hybrid
