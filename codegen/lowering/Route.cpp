//===- Route.cpp - pairs of tokens and experts, by expert -------------------===//
#include "codegen/kernels/cuda/RoutingLaunches.h"
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

namespace cpu {

static LogicalResult lower(RouteOp op, ProgramBuilder &program) {
  View choices = program.dense(op.getChoices()), slots = program.defineDense(op.getSlots()),
       offsets = program.defineDense(op.getOffsets());
  RouteParams params = routeParams(op);
  // Integers only: the type of the kernel is either.
  program.launch("route", Float32Type::get(op.getContext()), 1, wordsOf(params),
                 {program.use(choices), program.use(slots), program.use(offsets)},
                 routeScratch(params));
  return success();
}

} // namespace cpu

namespace cuda {

static LogicalResult lower(RouteOp op, ProgramBuilder &program) {
  View choices = program.dense(op.getChoices()), slots = program.defineDense(op.getSlots()),
       offsets = program.defineDense(op.getOffsets());
  RouteParams params = routeParams(op);
  KernelConstants words = wordsOf(params);
  // Integers only: the type of the kernels is either.
  Type element = Float32Type::get(op.getContext());
  const int64_t chunks = routeChunks(params);
  View counts = program.temporary({chunks, params.experts + 1}, choices.element);
  BufferUse choicesUse = program.use(choices), countsUse = program.use(counts),
            offsetsUse = program.use(offsets);
  program.launch("route_count", element, chunks, words, {choicesUse, countsUse},
                 LaunchShape{routingThreads, routeCountShared(params)});
  program.launch("route_scan", element, 1, words, {countsUse, offsetsUse},
                 LaunchShape{routeScanThreads, routeScanShared(params)});
  program.launch("route_place", element, chunks, words,
                 {choicesUse, countsUse, offsetsUse, program.use(slots)},
                 LaunchShape{routingThreads, routePlaceShared});
  return success();
}

} // namespace cuda

template <> LogicalResult lower(RouteOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
