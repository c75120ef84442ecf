//===- OptimizerPrograms.h - the update as a program of the model's ----------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace hybrid {

/// Functions with the attribute `hybrid.optimizer` say how parameters are updated: each takes a
/// parameter, its gradient, up to two states, the learning rate, the weight decay and the number of
/// the step, and returns the new parameter and states. `hybrid.parameters` names those it is for.
/// Makes the function @update of them and erases them: parameters that are treated alike, element
/// by element, become one stretch of memory, others are taken one by one; what no program takes is
/// AdamW's. Fails with a diagnostic for a program that cannot be run so.
llvm::LogicalResult instantiateOptimizers(mlir::ModuleOp module, mlir::func::FuncOp forward,
                                          mlir::Type element);

} // namespace hybrid
