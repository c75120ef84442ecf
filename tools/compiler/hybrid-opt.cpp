//===- hybrid-opt.cpp - run single passes over hybrid IR --------------------===//
#include "codegen/cpu/CodegenCpu.h"
#include "dialect/HybridOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<hybrid::HybridDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::scf::SCFDialect, mlir::memref::MemRefDialect, mlir::math::MathDialect,
                  mlir::LLVM::LLVMDialect>();
  mlir::registerTransformsPasses();
  hybrid::registerHybridPasses();
  hybrid::registerHybridCpuPasses();
  hybrid::registerPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "hybrid optimizer driver\n", registry));
}
