//===- Parameter.cpp - parameters and their new values ----------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// A view, made on first use.
template <> LogicalResult lower(ParameterOp, ProgramBuilder &) { return success(); }

template <> LogicalResult lower(AssignOp op, ProgramBuilder &program) {
  const ModuleTables::Parameter &parameter =
      program.tables.parameters.find(op.getNameAttr())->second;
  View value = program.view(op.getValue());
  const Storage &storage = program.storage(value.storage);
  if (storage.space == Space::Parameters && storage.offset == parameter.offset)
    return success(); // computed in place
  View place;
  place.shape.assign(parameter.type.getShape().begin(), parameter.type.getShape().end());
  place.strides = denseStrides(place.shape);
  place.element = value.element;
  place.storage = program.addStorage(
      {Space::Parameters, place.elements() * bytesOf(place.element), parameter.offset});
  program.copy(value, place);
  return success();
}

} // namespace hybrid
