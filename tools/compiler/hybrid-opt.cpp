//===- hybrid-opt.cpp - run single passes over hybrid IR --------------------===//
#include "codegen/Dialects.h"
#include "codegen/cpu/CodegenCpu.h"
#include "codegen/cuda/CodegenCuda.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/schedule/SchedulePasses.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  hybrid::registerAllDialects(registry);
  mlir::registerTransformsPasses();
  hybrid::registerHybridPasses();
  hybrid::registerHybridCpuPasses();
  hybrid::registerHybridCudaPasses();
  hybrid::registerHybridSchedulePasses();
  hybrid::registerPipelines();
  hybrid::cpu::registerPipelines();
  hybrid::cuda::registerPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "hybrid optimizer driver\n", registry));
}
