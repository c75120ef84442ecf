//===- ExponentialMovingAverage.cpp - averages that forget ------------------===//
#include "codegen/kernels/ExponentialMovingAverage.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {
namespace {

using Params = ExponentialMovingAverageParams;

/// Sizes and options of both directions.
template <typename Op> Params averageParams(Op op, const View &x, ProgramBuilder &program) {
  Params params{};
  params.batch = x.shape[0], params.length = x.shape[1], params.channels = x.shape[2];
  params.hasSegments = !!op.getSegments(), params.hasState = !!op.getInitialState();
  program.ask<ExponentialMovingAverageDivision>(x.element, params);
  return params;
}

/// What blocks of rows do to a state, or `reverse`: to a gradient; absent when there is one block.
SmallVector<BufferUse> summary(ProgramBuilder &program, Params params, const View &from,
                               int64_t stride, BufferUse decay, BufferUse segments, bool reverse) {
  if (params.timeBlocks == 1)
    return {program.absent(), program.absent()};
  SmallVector<int64_t> shape{params.timeBlocks, params.batch, params.channels};
  View blockDecay = program.temporary(shape, from.element),
       offset = program.temporary(shape, from.element);
  params.xStride = stride, params.reverse = reverse;
  SmallVector<BufferUse> results{program.use(blockDecay), program.use(offset)};
  program.launch<ExponentialMovingAverageSummary>(
      from.element, params, {program.use(from), decay, segments, results[0], results[1]});
  return results;
}

} // namespace

template <> LogicalResult lower(ExponentialMovingAverageOp op, ProgramBuilder &program) {
  int64_t xStride;
  View x = program.rows(op.getX(), xStride);
  Params params = averageParams(op, x, program);
  BufferUse decay = program.optionalUse(op.getDecay()),
            segments = program.optionalUse(op.getSegments());
  SmallVector<BufferUse> buffers{program.use(x), decay, segments,
                                 program.optionalUse(op.getInitialState())};
  buffers.append(summary(program, params, x, xStride, decay, segments, false));
  Store y = program.storeOf(op.getResult());
  params.xStride = xStride, params.yStride = y.stride;
  params.hasFinalState = op.getReturnState();
  buffers.push_back(op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                        : program.absent());
  program.launch<ExponentialMovingAverageForward>(x.element, params, buffers, y);
  return success();
}

template <> LogicalResult lower(ExponentialMovingAverageGradOp op, ProgramBuilder &program) {
  int64_t xStride, yStride, dyStride;
  View x = program.rows(op.getX(), xStride), y = program.rows(op.getOutput(), yStride),
       dy = program.rows(op.getCotangent(), dyStride);
  Params params = averageParams(op, x, program);
  BufferUse decay = program.optionalUse(op.getDecay()),
            segments = program.optionalUse(op.getSegments());
  SmallVector<BufferUse> buffers{program.use(x), decay,
                                 segments,       program.optionalUse(op.getInitialState()),
                                 program.use(y), program.use(dy)};
  buffers.append(summary(program, params, dy, dyStride, decay, segments, true));
  Store dx = program.storeOf(op.getDx());
  params.xStride = xStride, params.yStride = yStride, params.dyStride = dyStride;
  params.dxStride = dx.stride;
  params.hasFinalState = !!op.getStateCotangent(), params.stateGradient = !!op.getDinitialState();
  const int64_t sums = params.timeBlocks * params.batch;
  View partial = program.temporary({sums, params.channels}, x.element);
  buffers.append({program.optionalUse(op.getStateCotangent()),
                  params.stateGradient ? program.use(program.defineDense(op.getDinitialState()))
                                       : program.absent(),
                  program.use(partial)});
  program.launch<ExponentialMovingAverageBackward>(x.element, params, buffers, dx);
  if (!op.getDdecay().use_empty())
    program.sumPartials(partial, sums, params.channels, program.defineDense(op.getDdecay()));
  return success();
}

} // namespace hybrid
