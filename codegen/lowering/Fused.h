//===- Fused.h - regions of elementwise ops, for their neighbours -----------===//
#pragma once
#include "codegen/program/ProgramBuilder.h"

namespace hybrid {

/// Launches the region.
void computeRegion(FusedOp op, ProgramBuilder &program);

/// Whether a reduction alone uses the region's one result, and computes it where it reads.
bool isReduced(FusedOp op, ProgramBuilder &program);

} // namespace hybrid
