//===- Code.cpp - machine code of a scheduled module ------------------------===//
#include "codegen/Code.h"
#include "dialect/HybridOps.h"

std::string hybrid::launchKey(mlir::Operation *op) {
  auto launch = cast<LaunchOp>(op);
  std::string key = launch.getKernel().str() + "," + std::to_string(launch.getThreads()) + "," +
                    launch.getStore().str();
  for (int64_t word : launch.getConstants())
    key += "," + std::to_string(word);
  return key;
}
