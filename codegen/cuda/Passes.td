//===- Passes.td - CUDA code generation passes ------------------*- tablegen -*-===//
#ifndef HYBRID_CODEGEN_CUDA_PASSES_TD
#define HYBRID_CODEGEN_CUDA_PASSES_TD
include "mlir/Pass/PassBase.td"

def ScheduleCuda : Pass<"hybrid-schedule-cuda", "::mlir::ModuleOp"> {
  let summary = "turn functions into programs of CUDA kernel launches over one arena";
  let description = [{
    As hybrid-schedule-cpu, for a GPU: launches name templates of codegen/kernels/cuda with their arguments, run by one block a work item,
    or generated kernels, whose texts are `hybrid.kernel_source` ops of the module.
  }];
  let options = [
    Option<"keepSpectra", "keep-spectra", "bool", "true",
           "transform the filter of a long convolution once for the forward and the backward part, and keep its spectrum between them">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "232448", "shared memory a block may have (bytes)">,
    Option<"rounds", "rounds", "bool", "false", "kernels may round operands of their matrix units to bf16">,
    Option<"attention", "attention", "std::string", "\"own\"",
           "who computes attention of rounded operands: own (kernels), cudnn (the library, wherever it can), auto (the library for heads of 64 and more over more than 256 keys)">,
    Option<"widestHead", "widest-head", "int64_t", "128", "the widest head that the library takes on every device asked for">
  ];
  let dependentDialects = ["::hybrid::HybridDialect"];
}
#endif
