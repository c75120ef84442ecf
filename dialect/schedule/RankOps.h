//===- RankOps.h - steps that all ranks of a job take together ---------------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"

#define GET_OP_CLASSES
#include "dialect/schedule/RankOps.h.inc"

namespace hybrid {
/// Whether a step is one that all ranks take together.
inline bool isOverRanks(mlir::Operation *op) {
  return llvm::isa<AllReduceOp, AllGatherOp, ReleaseOp, AwaitOp, ExchangeOp>(op);
}
} // namespace hybrid
