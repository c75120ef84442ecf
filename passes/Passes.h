//===- Passes.h - graph passes and the pipelines made of them ---------------===//
#pragma once
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include <string>

namespace hybrid {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// What is bound when compiling.
struct CompileOptions {
  int64_t batch = 32, length = 128;
  std::string precision = "f32"; // of tensors: f32 or f64
  bool roundProducts = false;    // bf16 operands for matrix products
  bool shareRepeats = false;     // channels that repeat an input are in memory once
  bool chainProducts = false;    // of bf16, and products of what they made, are one op
  bool joinProducts = false;     // sums of products of bf16 are one product
  int64_t fewRows = 0;           // with decode: of products of weights with so many rows, too
  int64_t sequenceRanks = 1;     // that have equal parts of every sequence
  bool chunked = false;          // a program `chunk`, that continues from states
  /// Positions and taps but one, together, beyond which convolutions become transforms.
  int64_t longestConvolution = INT64_MAX;
  bool decode = false;  // programs that decode, and none that trains
  int64_t prefill = 64; // tokens that they take at once
  /// Without, the graph stays as it was written: to compare with.
  bool fuse = true;
};

/// Stages a compilation can stop after, in order; `--emit` knows them by name.
enum class GraphStage { Hybrid, Specialized, Gradient, Fused, Tiled };

/// Adds the passes that lead from the front end's output to `stage`.
void buildGraphPipeline(mlir::OpPassManager &manager, const CompileOptions &options,
                        GraphStage stage);

/// Registers `hybrid-graph-pipeline` for hybrid-opt.
void registerPipelines();

} // namespace hybrid
