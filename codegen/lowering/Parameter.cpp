//===- Parameter.cpp - parameters and their new values ----------------------===//
#include "codegen/lowering/Lowering.h"
#include "passes/ParameterSlots.h"

using namespace mlir;

namespace hybrid {

/// A view, made on first use.
template <> LogicalResult lower(ParameterOp, ProgramBuilder &) { return success(); }

template <> LogicalResult lower(AssignOp op, ProgramBuilder &program) {
  View value = program.view(op.getValue()),
       place = program.parameterView(op.getNameAttr(), spaceOf(op));
  if (value.buffer != place.buffer) // else computed in place
    program.copy(value, place);
  return success();
}

} // namespace hybrid
