//===- ScheduleStage.h - the passes that make a schedule, by name -----------===//
#pragma once
#include "mlir/Pass/PassManager.h"
#include <functional>
#include <vector>

namespace hybrid {

/// One pass; `--emit=NAME` stops after it. The last one of a device is "schedule".
struct ScheduleStage {
  llvm::StringRef name;
  std::function<void(mlir::OpPassManager &)> add;
};

} // namespace hybrid
