//===- Round.cpp - rounding of what lies in memory, and back ----------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// Part of a region by now.
template <> LogicalResult lower(RoundOp op, ProgramBuilder &program) { return refuse(op, program); }
template <> LogicalResult lower(WidenOp op, ProgramBuilder &program) { return refuse(op, program); }

} // namespace hybrid
