//===- Schedule.h - a module of functions becomes programs ------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace hybrid {

class Backend;

/// Turns every function of `module` into a `hybrid.program` for the backend's device, with all
/// tensors in one arena, and adds the program `setup` and the tables of parameters and constants.
/// With `keepSpectra` what is made from filters is kept from one use to the next.
mlir::LogicalResult schedulePrograms(mlir::ModuleOp module, const Backend &backend,
                                     bool keepSpectra);

} // namespace hybrid
