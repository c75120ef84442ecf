//===- Route.cpp - order of (token, choice) pairs by expert ---------------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(RouteOp) {
  int64_t experts = adaptor.getExperts();
  if (shapeOf(adaptor.getChoices()).empty()) // C1
    return emitOptionalError(location,
                             "route: choices is a single number, expected [..., choices]");
  if (experts < 1 || experts >= INT32_MAX) // C2
    return emitOptionalError(location, "route: experts = ", experts, ", expected 1 to 2^31 - 2");
  return give(types, {adaptor.getChoices().getType(),
                      tensorOf({experts + 1}, IntegerType::get(context, 32))});
}

LogicalResult RouteOp::verify() {
  double factor = getCapacityFactor().convertToDouble();
  if (!(factor >= 0)) // C3
    return emitOpError() << "capacity_factor = " << numberText(getCapacityFactor())
                         << ", expected at least 0 (0: no limit)";
  return success();
}

HYBRID_FLOPS(RouteOp, 0, "0 (a sort)")
