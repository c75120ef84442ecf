//===- Dispatch.cpp - rows into expert order, and back --------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

/// What dispatch and collect have in common: C1.
template <typename Adaptor>
static LogicalResult inferRows(StringRef name, std::optional<Location> location, Adaptor adaptor,
                               SmallVectorImpl<Type> &types) {
  if (!sameLeading(adaptor.getX(), 1, adaptor.getSlots(), 0))
    return emitOptionalError(location, name, ": x is ", shapeText(shapeOf(adaptor.getX())),
                             " and slots ", shapeText(shapeOf(adaptor.getSlots())),
                             ": expected a slot for every row of x");
  return give(types, {adaptor.getX().getType()});
}

HYBRID_INFER(DispatchOp) { return inferRows("dispatch", location, adaptor, types); }

HYBRID_INFER(CollectOp) { return inferRows("collect", location, adaptor, types); }

HYBRID_VJP(DispatchOp) {
  return give(gradients, {CollectOp::create(builder, getLoc(), cotangents[0], getSlots()), {}});
}

HYBRID_VJP(CollectOp) {
  return give(gradients, {DispatchOp::create(builder, getLoc(), cotangents[0], getSlots()), {}});
}

HYBRID_FLOPS(DispatchOp, 0, "0 (a gather)")
HYBRID_FLOPS(CollectOp, 0, "0 (a gather)")
