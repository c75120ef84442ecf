//===- Yield.cpp - ends of regions ------------------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// Lowered with the op whose region it ends.
template <> LogicalResult lower(YieldOp op, ProgramBuilder &program) { return refuse(op, program); }

} // namespace hybrid
