//===- Schedule.h - a module of functions becomes programs ------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace hybrid {

class Backend;

/// Lowers every function of `module` to a `schedule.program` for the backend's device, and adds the
/// program `setup` and the tables of parameters and constants. With `keepSpectra` what is made from
/// filters is kept from one use to the next.
mlir::LogicalResult lowerToSchedule(mlir::ModuleOp module, const Backend &backend,
                                    bool keepSpectra);

} // namespace hybrid
