//===- Parameter.cpp - parameters and their new values ----------------------===//
#include "codegen/kernels/RingRows.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/CarriedState.h"
#include "dialect/Shapes.h"
#include "passes/ParameterSlots.h"

using namespace mlir;

namespace hybrid {

/// A view, made on first use.
template <> LogicalResult lower(ParameterOp, ProgramBuilder &) { return success(); }

/// The rows of new positions; the others stay where they are.
static void writeRows(AssignOp op, StringAttr count, ProgramBuilder &program) {
  RingRowsParams params{};
  View x = program.rows(op.getValue(), params.stride),
       ring = program.parameterView(op.getNameAttr());
  ArrayRef<int64_t> shape = shapeOf(op.getValue());
  params.batch = shape[0], params.length = shape[1], params.columns = shape[2];
  params.rows = ring.shape[1];
  program.launch<RingRows>(x.element, params, {x, program.parameterView(count), ring});
}

template <> LogicalResult lower(AssignOp op, ProgramBuilder &program) {
  if (auto count = op->getAttrOfType<StringAttr>(ringAttribute)) {
    writeRows(op, count, program);
    return success();
  }
  View value = program.view(op.getValue()),
       place = program.parameterView(op.getNameAttr(), spaceOf(op));
  if (value.buffer != place.buffer) // else computed in place
    program.copy(value, place);
  return success();
}

} // namespace hybrid
