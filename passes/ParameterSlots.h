//===- ParameterSlots.h - what of a parameter an op reads or assigns ---------===//
//
// hybrid.parameter and hybrid.assign are about a parameter's own value, or with the attribute
// `hybrid.slot` about what belongs to it: "gradients", "moment1" or "moment2". With
// `hybrid.parameters`, a list of names, they are about those parameters as one stretch of memory.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"

namespace hybrid {

/// The space that the op means.
inline Space spaceOf(mlir::Operation *op) {
  auto slot = op->getAttrOfType<mlir::StringAttr>("hybrid.slot");
  return slot ? symbolizeSpace(slot.getValue()).value_or(Space::Parameters) : Space::Parameters;
}

/// The parameters of a stretch; null for one alone.
inline mlir::ArrayAttr stretchOf(mlir::Operation *op) {
  return op->getAttrOfType<mlir::ArrayAttr>("hybrid.parameters");
}

/// Bytes from the start of a parameter of so many bytes to that of the next.
constexpr int64_t parameterStride(int64_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace hybrid
