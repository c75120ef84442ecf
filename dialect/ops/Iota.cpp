//===- Iota.cpp - equally spaced values -----------------------------------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(IotaOp) {
  if (adaptor.getLength().size() != 1) // C1
    return emitOptionalError(location, "iota: length has ", adaptor.getLength().size(),
                             " entries, expected 1");
  if (!adaptor.getElementType().isF32() && !adaptor.getElementType().isF64()) // C2
    return emitOptionalError(location, "iota: element type is ", adaptor.getElementType(),
                             ", expected f32 or f64");
  return give(types, {tensorOf(sizesOf(adaptor.getLength()), adaptor.getElementType())});
}
