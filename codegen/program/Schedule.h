//===- Schedule.h - a module of functions becomes programs ------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace hybrid {

class Backend;

struct LoweringOptions {
  bool keepSpectra = true;     // what is made from filters is kept from one use to the next
  bool shardOptimizer = false; // launches of the optimizer say where their items work
};

/// Lowers every function of `module` to a `schedule.program` for the backend's device, and adds the
/// program `setup` and the tables of parameters and constants.
mlir::LogicalResult lowerToSchedule(mlir::ModuleOp module, const Backend &backend,
                                    const LoweringOptions &options);

} // namespace hybrid
