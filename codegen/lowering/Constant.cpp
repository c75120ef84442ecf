//===- Constant.cpp - numbers of the program --------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// A view, made on first use.
template <> LogicalResult lower(ConstantOp, ProgramBuilder &) { return success(); }

} // namespace hybrid
