//===- Round.cpp - rounding of operands -------------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// Part of a region by now.
template <> LogicalResult lower(RoundOp op, ProgramBuilder &program) { return refuse(op, program); }

} // namespace hybrid
