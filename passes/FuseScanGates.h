//===- FuseScanGates.h - patterns of hybrid-fuse-gates ----------*- C++ -*-===//
#pragma once
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace hybrid {

/// Adds the patterns that fold the softplus and the bias of the step, the skip and the gate into a
/// selective scan; `numFused` counts them.
void addScanGatePatterns(mlir::RewritePatternSet &patterns, mlir::Pass::Statistic &numFused);

} // namespace hybrid
