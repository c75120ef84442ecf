//===- CheckLimits.h - whether a runtime will take a program -----------------===//
#pragma once
#include "codegen/DeviceTarget.h"

namespace hybrid {

/// Fails where a scheduled module goes beyond what an executable may be (executable/Limits.h), and
/// says which size is to be smaller.
mlir::LogicalResult checkLimits(mlir::ModuleOp module, const DeviceTarget &target);

} // namespace hybrid
