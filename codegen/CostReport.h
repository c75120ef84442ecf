//===- CostReport.h - parameters, FLOPs, state and memory of a model ------===//
//
// What `hybridc --cost` says. Numbers of the program as it was written, before fusion, but for the
// bytes that fusion saves; memory as it was scheduled.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/MemoryPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace hybrid {

/// Costs of a specialised module (static shapes): parameters, and for the forward pass per op kind
/// FLOPs with the formula used and bytes.
llvm::json::Object costOf(mlir::ModuleOp module);

/// Adds the state of a sequence: what decoding carries from token to token, or null and why where
/// that is not known; and what papers count, where layers say so. `forward` has static shapes and
/// its experts still whole; `sequence` is what sequenceDimensions said before they were static.
void addState(mlir::func::FuncOp forward, llvm::ArrayRef<int64_t> sequence,
              llvm::json::Object &cost);

/// Whether an output can depend on later positions of the input: `causal` true, false or, where
/// nobody says, null; where it is not, `sees_ahead` (a number of positions, or "all") and the
/// `location` by which; `along`, the outputs that have positions. Of the same `forward`.
llvm::json::Object describeCausality(mlir::func::FuncOp forward, llvm::ArrayRef<int64_t> sequence);
/// The same as a line for people.
std::string causalityText(const llvm::json::Object &described);

/// Adds to `cost` the memory of the same model once it is scheduled.
void addMemory(mlir::ModuleOp scheduled, const MemoryPlan &plan, llvm::json::Object &cost);

/// What a training step (`@train`, or `@vjp` of a model without) does.
struct StepTraffic {
  int64_t flops = 0, bytes = 0; // bytes moved between kernels and memory
  int64_t recomputedFlops = 0;  // of these FLOPs, those of ops that run once more
};
StepTraffic trafficOf(mlir::ModuleOp module);

/// Adds the traffic of a training step as it was written and as the passes left it.
void addTraffic(const StepTraffic &before, const StepTraffic &after, llvm::json::Object &cost);

/// Adds the forward FLOPs as the paper `method` counts them, for `length` positions: the terms that
/// the layers have `published`. Fails with a message naming the methods there are when no layer
/// publishes any of this one. Layers that a paper would count and that publish none are listed.
llvm::LogicalResult addPublished(mlir::ModuleOp module, llvm::StringRef method, int64_t length,
                                 llvm::json::Object &cost);

/// The same as a table for people.
void printCost(const llvm::json::Object &cost, llvm::raw_ostream &stream);

} // namespace hybrid
