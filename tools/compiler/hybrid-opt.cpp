//===- hybrid-opt.cpp - run single passes over hybrid IR --------------------===//
#include "dialect/HybridOps.h"
#include "passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<hybrid::HybridDialect, mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  hybrid::registerHybridPasses();
  hybrid::registerPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "hybrid optimizer driver\n", registry));
}
