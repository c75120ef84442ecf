//===- MemoryBudget.h - compile for a given amount of memory ----------------===//
#pragma once
#include "codegen/DeviceTarget.h"
#include "codegen/MemoryPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace hybrid {

/// A module of fused functions, and of the programs made of them.
struct Scheduled {
  mlir::OwningOpRef<mlir::ModuleOp> functions, programs;
  MemoryPlan plan;
  bool keepSpectra = true; // of filters, in the programs
};

/// Schedules `fused` for `replicas` replicas, for sessions of `threads` threads. With a budget
/// (bytes; 0: none) that the model exceeds, as much is computed again in the backward pass as
/// brings what a session allocates within it, and no more. When even the least it can be made to
/// take exceeds the budget, fails and says in `refusal` how much that is and what takes it.
mlir::FailureOr<Scheduled> scheduleWithin(mlir::ModuleOp fused, const DeviceTarget &target,
                                          bool rounded, int64_t replicas, uint64_t budget,
                                          uint64_t threads, std::string &refusal);

} // namespace hybrid
