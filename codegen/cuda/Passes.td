//===- Passes.td - CUDA code generation passes ------------------*- tablegen -*-===//
#ifndef HYBRID_CODEGEN_CUDA_PASSES_TD
#define HYBRID_CODEGEN_CUDA_PASSES_TD
include "mlir/Pass/PassBase.td"

def LowerToScheduleCuda : Pass<"hybrid-lower-cuda", "::mlir::ModuleOp"> {
  let summary = "turn functions into programs of CUDA kernel launches over buffers";
  let description = [{
    As hybrid-lower-cpu, for a GPU: launches name templates of codegen/kernels/cuda with their arguments, run by one block a work item.
  }];
  let options = [
    Option<"keepSpectra", "keep-spectra", "bool", "true",
           "transform the filter of a long convolution once for the forward and the backward part, and keep its spectrum between them">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "232448", "shared memory a block may have (bytes)">,
    Option<"rounds", "rounds", "bool", "false", "kernels may round operands of their matrix units to bf16">,
    Option<"attention", "attention", "std::string", "\"own\"",
           "who computes attention of rounded operands: own (kernels), cudnn (the library, wherever it can), auto (the library for heads of 64 and more over more than 256 keys)">,
    Option<"widestHead", "widest-head", "int64_t", "128", "the widest head that the library takes on every device asked for">,
    Option<"transforms", "transforms", "std::string", "\"own\"",
           "who computes transforms of columns: own (kernels), cufft (the library), auto (the library for more than 256 points)">,
    Option<"products", "products", "std::string", "\"auto\"",
           "who multiplies matrices that are not rounded: cublaslt (the library), auto (the library but for small ones)">
  ];
  let dependentDialects = ["::hybrid::HybridDialect", "::hybrid::ScheduleDialect"];
}

def EmitKernelsCuda : Pass<"schedule-emit-kernels-cuda", "::mlir::ModuleOp"> {
  let summary = "generate CUDA C++ for elementwise regions, reductions, copies, fills and stores";
  let description = [{
    A generated kernel is a `schedule.kernel_source` of the module; equal ones are one. The region of a launch's store becomes a functor.

    ```mlir
    schedule.compute for "fused(silu)" (%a) -> (%b) : (memref<4x8xf32>) -> memref<4x8xf32> {...}                           // before

    schedule.launch "fused_0" for "fused(silu)" grid 1 (%a, %b : memref<4x8xf32>, memref<4x8xf32>) {generated, ...}         // after
    schedule.kernel_source @fused_0 "HYBRID_DEVICE void fused_0(int64_t item, const float *x0, float *y0) {...}"
    ```
  }];
}

def MergeLaunches : Pass<"schedule-merge-launches", "::mlir::ModuleOp"> {
  let summary = "run many small launches as one";
  let description = [{
    A launch costs about as much as a kernel of a few microseconds runs, and a small model has many that could run at any time: what depends on
    parameters alone (their rounding, say) can all run first, and brief kernels that end in a gradient which nothing reads can all run last. Brief kernels that follow one
    another anyhow, and need nothing of one another, run there. Kernels of one kind side by side in one grid are one launch; a block finds its own by its number.
    Programs that write parameters stay as they are.

    ```mlir
    schedule.launch "fused_0" for "fused(exp)" grid 1 (%a, %b : ...) {generated, threads = 256 : i64, ...}                 // before
    schedule.launch "fused_1" for "fused(exp)" grid 2 (%c, %d : ...) {generated, threads = 256 : i64, ...}

    schedule.launch "merged_2" for "2 launches in one (fused(exp), fused(exp))" grid 3 (%a, %b, %c, %d : ...) {...}         // after
    ```
  }];
  let options = [
    Option<"mostBlocks", "most-blocks", "int64_t", "512",
           "beyond this many blocks a launch of its own costs nothing, and its result would be held long">,
    Option<"mostPartialBytes", "most-partial-bytes", "int64_t", "4 << 20", "what launches that wait for the end of the program read, each, is no larger">
  ];
  let statistics = [Statistic<"numMerged", "merged", "launches put into others">];
}

def ChainLaunches : Pass<"schedule-chain-launches", "::mlir::ModuleOp"> {
  let summary = "run small launches that need each other in one block";
  let description = [{
    A launch of a few blocks takes less than it takes to launch it, and where the next one reads its result, neither can hide behind the other: the network that makes a
    filter, and its gradient, are chains of such. They become one launch of one block, with barriers between. A chain runs where its last launch was, so nothing in
    between may need or change what it touches. Programs that write parameters stay as they are.

    ```mlir
    schedule.launch "fused_0" for "fused(sin)" grid 1 (%a, %b : ...) {generated, threads = 256 : i64, ...}                 // before
    schedule.launch "smallProduct<...>" for "linear" grid 2 (%b, %w, %c : ...) {threads = 256 : i64, ...}

    schedule.launch "merged_1" for "2 launches in one block (fused(sin), linear)" grid 1 (%a, %b, %w, %c : ...) {...}       // after
    ```
  }];
  let options = [Option<"mostBlocks", "most-blocks", "int64_t", "2", "launches of more blocks are not small">];
  let statistics = [Statistic<"numChained", "chained", "launches put into others">];
}
#endif
