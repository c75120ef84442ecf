//===- Unary.cpp - functions of one value -----------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// Part of a region by now.
template <> LogicalResult lower(UnaryOp op, ProgramBuilder &program) { return refuse(op, program); }

} // namespace hybrid
