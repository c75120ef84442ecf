//===- Binary.cpp - functions of two values ---------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// Part of a region by now.
template <> LogicalResult lower(BinaryOp op, ProgramBuilder &program) {
  return refuse(op, program);
}

} // namespace hybrid
