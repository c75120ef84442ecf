//===- Dialects.h - the dialects a compilation may meet -----------------------===//
#pragma once
#include "mlir/IR/DialectRegistry.h"

namespace hybrid {

/// Registers the hybrid dialect and every dialect that the passes lower to, of all targets.
void registerAllDialects(mlir::DialectRegistry &registry);

} // namespace hybrid
