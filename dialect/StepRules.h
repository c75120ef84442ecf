//===- StepRules.h - what a step of a recurrence may hold --------------------===//
#pragma once
#include "mlir/IR/Block.h"

namespace hybrid {

/// The first op of a step (hybrid.recurrence) that no position can be computed with; null when all
/// can.
mlir::Operation *findForeignOp(mlir::Block &step);

} // namespace hybrid
