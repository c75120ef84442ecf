//===- TopK.cpp - places of the largest values ------------------------------===//
#include "codegen/kernels/cuda/RoutingLaunches.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

static LogicalResult lower(TopKOp op, ProgramBuilder &program) {
  TopKParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.defineDense(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.k = static_cast<int64_t>(op.getK());
  program.launch("top_k", x.element, params.rows, wordsOf(params),
                 {program.use(x), program.use(indices)});
  return success();
}

} // namespace cpu

namespace cuda {

static LogicalResult lower(TopKOp op, ProgramBuilder &program) {
  TopKParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.defineDense(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.k = static_cast<int64_t>(op.getK());
  program.launch("top_k", x.element, ceilDiv(params.rows, routingRows), wordsOf(params),
                 {program.use(x), program.use(indices)}, LaunchShape{routingThreads, 0});
  return success();
}

} // namespace cuda

template <> LogicalResult lower(TopKOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
