//===- Passes.td - CPU code generation passes -------------------*- tablegen -*-===//
#ifndef HYBRID_CODEGEN_CPU_PASSES_TD
#define HYBRID_CODEGEN_CPU_PASSES_TD
include "mlir/Pass/PassBase.td"

def LowerToScheduleCpu : Pass<"hybrid-lower-cpu", "::mlir::ModuleOp"> {
  let summary = "turn functions into programs of launches over buffers";
  let description = [{
    Every function becomes a `schedule.program`: kernels of the library specialised by their constants, regions that kernels are generated for,
    and matrix products. Slices, splits, transposes, broadcasts and reshapes become views; parts of a concatenation, gradients and new parameters are computed where
    they are wanted. The module gets the attributes `schedule.parameters`, `schedule.parameter_bytes`, `schedule.constants`,
    `schedule.constants_bytes`, and the program `setup`, which fills tables.

    ```mlir
    func.func @forward(%x: tensor<32x32xf32> {hybrid.name = "x"}) -> (tensor<32x32xf32> {hybrid.name = "y"}) {             // before
      %w = hybrid.parameter "w" : tensor<32x32xf32>
      %y = hybrid.linear %x, %w : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
      return %y : tensor<32x32xf32>
    }
    schedule.program @forward {                                                                                           // after
      %x = schedule.buffer arena "x" : memref<32x32xf32>
      %w = schedule.buffer parameters "w" at 0 : memref<32x32xf32>
      %y = schedule.buffer arena : memref<32x32xf32>
      schedule.library_matmul 32 x 32 x 32 of f32 for "linear" (%x, %w, %y : ...) {...}
      schedule.output "y" %y : memref<32x32xf32>
    }
    ```
  }];
  let options = [
    Option<"keepSpectra", "keep-spectra", "bool", "true",
           "transform the filter of a long convolution once for the forward and the backward part, and keep its spectrum between them">,
    Option<"shardOptimizer", "shard-optimizer", "bool", "false", "launches of the optimizer say where their items work: ranks share them">,
    Option<"rounds", "rounds", "bool", "false", "kernels may take activations as bf16">
  ];
  let dependentDialects = ["::hybrid::HybridDialect", "::hybrid::ScheduleDialect"];
}

def EmitKernelsCpu : Pass<"schedule-emit-kernels-cpu", "::mlir::ModuleOp"> {
  let summary = "generate kernels of loops for elementwise regions, reductions, copies, fills and recurrences";
  let description = [{
    A generated kernel is a function of scf, memref, arith and math in the same module; equal ones are one.

    ```mlir
    schedule.compute for "fused(silu)" (%a) -> (%b) : (memref<4x8xf32>) -> memref<4x8xf32> {...}                           // before

    schedule.launch "fused_0" for "fused(silu)" grid 1 (%a, %b : memref<4x8xf32>, memref<4x8xf32>) {generated, ...}         // after
    func.func private @fused_0(%lo: index, %hi: index, %x0: memref<?xf32>, %y0: memref<?xf32>) {...}
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
}
#endif
