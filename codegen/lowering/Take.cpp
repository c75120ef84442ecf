//===- Take.cpp - values at indices, and back -------------------------------===//
#include "codegen/kernels/cuda/RoutingLaunches.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

/// take and scatter: rows of x and rows of y, of which the one holds `columns` values and the other
/// one for each index.
template <typename Op>
static LogicalResult lowerIndexed(Op op, ProgramBuilder &program, StringRef kernel) {
  TakeParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.dense(op.getIndices()),
       y = program.define(op.getResult());
  const View &wide = std::is_same_v<Op, TakeOp> ? x : y;
  params.rows = rowCount(x), params.columns = wide.shape.back(),
  params.count = indices.shape.back();
  params.yStride = *y.rowStride();
  program.launch(kernel, x.element, params.rows, wordsOf(params),
                 {program.use(x), program.use(indices), program.use(y)});
  return success();
}

static LogicalResult lower(TakeOp op, ProgramBuilder &program) {
  return lowerIndexed(op, program, "take");
}

static LogicalResult lower(ScatterOp op, ProgramBuilder &program) {
  return lowerIndexed(op, program, "scatter");
}

} // namespace cpu

namespace cuda {

/// take and scatter: rows of x and rows of y, of which the one holds `columns` values and the other
/// one for each index.
template <typename Op>
static LogicalResult lowerIndexed(Op op, ProgramBuilder &program, StringRef kernel) {
  TakeParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.dense(op.getIndices()),
       y = program.define(op.getResult());
  const View &wide = std::is_same_v<Op, TakeOp> ? x : y;
  params.rows = rowCount(x), params.columns = wide.shape.back(),
  params.count = indices.shape.back();
  params.yStride = *y.rowStride();
  program.launch(kernel, x.element, ceilDiv(y.elements(), routingThreads), wordsOf(params),
                 {program.use(x), program.use(indices), program.use(y)},
                 LaunchShape{routingThreads, 0});
  return success();
}

static LogicalResult lower(TakeOp op, ProgramBuilder &program) {
  return lowerIndexed(op, program, "take");
}

static LogicalResult lower(ScatterOp op, ProgramBuilder &program) {
  return lowerIndexed(op, program, "scatter");
}

} // namespace cuda

template <> LogicalResult lower(TakeOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(ScatterOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
