//===- Route.cpp - order of (token, choice) pairs by expert ---------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult RouteOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  int64_t experts = adaptor.getExperts();
  if (shapeOf(adaptor.getChoices()).empty()) // C1
    return emitOptionalError(location,
                             "route: choices is a single number, expected [..., choices]");
  if (experts < 1 || experts >= INT32_MAX) // C2
    return emitOptionalError(location, "route: experts = ", experts, ", expected 1 to 2^31 - 2");
  types.push_back(adaptor.getChoices().getType());
  types.push_back(tensorOf({experts + 1}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult RouteOp::verify() {
  double factor = getCapacityFactor().convertToDouble();
  if (!(factor >= 0)) // C3
    return emitOpError() << "capacity_factor = " << numberText(getCapacityFactor())
                         << ", expected at least 0 (0: no limit)";
  return success();
}

int64_t RouteOp::getFlops() { return 0; }
StringRef RouteOp::getFlopsFormula() { return "0 (a sort)"; }
