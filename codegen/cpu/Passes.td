//===- Passes.td - CPU code generation passes -------------------*- tablegen -*-===//
#ifndef HYBRID_CODEGEN_CPU_PASSES_TD
#define HYBRID_CODEGEN_CPU_PASSES_TD
include "mlir/Pass/PassBase.td"

def ScheduleCpu : Pass<"hybrid-schedule-cpu", "::mlir::ModuleOp"> {
  let summary = "turn functions into programs of kernel launches over one arena";
  let description = [{
    Every function becomes a `hybrid.program`: kernels of the library specialised by their constants, generated kernels (functions of
    scf, memref, arith and math in the same module) and matrix products, with all tensors placed in one arena by lifetime. Slices, splits,
    transposes, broadcasts and reshapes become views. The module gets the attributes `hybrid.parameters`, `hybrid.parameter_bytes`,
    `hybrid.constants`, `hybrid.constants_bytes`, and the program `setup`, which fills tables;
    every program gets `hybrid.largest`: op, location and bytes of the largest buffers where its arena is fullest.
  }];
  let options = [
    Option<"keepSpectra", "keep-spectra", "bool", "true",
           "transform the filter of a long convolution once for the forward and the backward part, and keep its spectrum between them">
  ];
  let dependentDialects = ["::hybrid::HybridDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect"];
}
#endif
