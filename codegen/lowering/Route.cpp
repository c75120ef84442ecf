//===- Route.cpp - pairs of tokens and experts, by expert -------------------===//
#include "codegen/kernels/Route.h"
#include "codegen/lowering/Lowering.h"
#include <cmath>

using namespace mlir;

namespace hybrid {

static RouteParams routeParams(RouteOp op) {
  RouteParams params{};
  params.pairs = cast<ShapedType>(op.getChoices().getType()).getNumElements();
  params.experts = static_cast<int64_t>(op.getExperts());
  double factor = op.getCapacityFactor().convertToDouble();
  double capacity =
      std::ceil(factor * static_cast<double>(params.pairs) / static_cast<double>(params.experts));
  params.capacity = static_cast<int64_t>(std::min(capacity, static_cast<double>(params.pairs)));
  return params;
}

template <> LogicalResult lower(RouteOp op, ProgramBuilder &program) {
  View choices = program.dense(op.getChoices()), slots = program.defineDense(op.getSlots()),
       offsets = program.defineDense(op.getOffsets());
  BufferUse choicesUse = program.use(choices), slotsUse = program.use(slots),
            offsetsUse = program.use(offsets);
  const RouteParams params = routeParams(op);
  // Integers only: the type of the kernels is either.
  Type element = Float32Type::get(op.getContext());
  if (program.device().kind == Device::Cpu) {
    program.launch<Route>(element, params, {choicesUse, slotsUse, offsetsUse});
    return success();
  }
  // Where experts' rows begin is known on the device only and stays there.
  View counts = program.temporary({cuda::routeChunks(params), params.experts}, choices.element);
  BufferUse countsUse = program.use(counts);
  program.launch<RouteCount>(element, params, {choicesUse, countsUse});
  program.launch<RouteScan>(element, params, {countsUse, offsetsUse});
  program.launch<RoutePlace>(element, params, {choicesUse, countsUse, offsetsUse, slotsUse});
  return success();
}

} // namespace hybrid
