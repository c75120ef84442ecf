//===- CostReport.h - parameters, FLOPs, state and memory of a model --------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace hybrid {

/// Costs of a specialised module (static shapes): per op kind FLOPs of the forward pass with the
/// formula used, parameters, state. Adds `arena_bytes` a program when the module is scheduled.
llvm::json::Object costOf(mlir::ModuleOp module);
/// The same as a table for people.
void printCost(const llvm::json::Object &cost, llvm::raw_ostream &stream);

} // namespace hybrid
