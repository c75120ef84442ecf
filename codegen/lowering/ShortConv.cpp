//===- ShortConv.cpp - short convolutions -----------------------------------===//
#include "codegen/kernels/cuda/ShortConvLaunch.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

static ShortConvParams shortConvParams(const View &x, Value weight) {
  ShortConvParams params{};
  params.batch = x.shape[0], params.length = x.shape[1], params.channels = x.shape[2];
  params.taps = shapeOf(weight)[1];
  // Whole rows of a sequence an item: long enough that the taps' halo is small, short enough for
  // many items.
  params.rowsPerItem = std::min<int64_t>(params.length, 128);
  return params;
}

static LogicalResult lower(ShortConvOp op, ProgramBuilder &program) {
  int64_t xStride;
  View x = program.rows(op.getX(), xStride), y = program.define(op.getResult());
  ShortConvParams params = shortConvParams(x, op.getWeight());
  params.xStride = xStride, params.yStride = *y.rowStride();
  params.hasBias = !!op.getBias(), params.hasSegments = !!op.getSegments(),
  params.hasState = !!op.getInitialState();
  params.hasFinalState = op.getReturnState();
  BufferUse finalState =
      op.getReturnState() ? program.use(program.defineDense(op.getFinalState())) : program.absent();
  program.launch("short_conv_forward", x.element,
                 params.batch * ceilDiv(params.length, params.rowsPerItem), wordsOf(params),
                 {program.use(x), program.optionalUse(op.getWeight()),
                  program.optionalUse(op.getBias()), program.optionalUse(op.getSegments()),
                  program.optionalUse(op.getInitialState()), program.use(y), finalState});
  return success();
}

static LogicalResult lower(ShortConvGradOp op, ProgramBuilder &program) {
  int64_t xStride, dyStride;
  View x = program.rows(op.getX(), xStride), dy = program.rows(op.getCotangent(), dyStride),
       dx = program.define(op.getDx());
  ShortConvParams params = shortConvParams(x, op.getWeight());
  params.xStride = xStride, params.yStride = dyStride, params.dxStride = *dx.rowStride();
  params.hasSegments = !!op.getSegments(), params.hasState = !!op.getInitialState(),
  params.hasFinalState = !!op.getStateCotangent();
  int64_t grid = params.batch * ceilDiv(params.length, params.rowsPerItem), taps = params.taps,
          channels = params.channels;
  View partial = program.temporary({grid, taps + 1, channels}, x.element);
  BufferUse dState = op.getDinitialState() ? program.use(program.defineDense(op.getDinitialState()))
                                           : program.absent();
  program.launch("short_conv_backward", x.element, grid, wordsOf(params),
                 {program.use(x), program.optionalUse(op.getWeight()),
                  program.optionalUse(op.getSegments()), program.optionalUse(op.getInitialState()),
                  program.use(dy), program.optionalUse(op.getStateCotangent()), program.use(dx),
                  dState, program.use(partial)});
  int64_t stride = (taps + 1) * channels;
  if (!op.getDweight().use_empty()) {
    View tapMajor = program.temporary({taps, channels}, x.element);
    program.sumPartials(partial, grid, stride, tapMajor);
    program.copy(tapMajor.transposed({1, 0}), program.define(op.getDweight())); // any layout
  }
  if (!op.getDbias().use_empty())
    program.sumPartials(partial.sliced({0, taps, 0}, {grid, 1, channels}), grid, stride,
                        program.defineDense(op.getDbias()));
  return success();
}

} // namespace cpu

namespace cuda {

static ShortConvParams shortConvParams(const View &x, Value weight) {
  ShortConvParams params{};
  params.batch = x.shape[0], params.length = x.shape[1], params.channels = x.shape[2];
  params.taps = shapeOf(weight)[1];
  params.rowsPerItem = shortConvRows(params);
  return params;
}

static int64_t rowItems(const ShortConvParams &params) {
  return params.batch * ceilDiv(params.length, params.rowsPerItem);
}

static LogicalResult lower(ShortConvOp op, ProgramBuilder &program) {
  int64_t xStride;
  View x = program.rows(op.getX(), xStride);
  SmallVector<BufferUse> operands{
      program.use(x), program.optionalUse(op.getWeight()), program.optionalUse(op.getBias()),
      program.optionalUse(op.getSegments()), program.optionalUse(op.getInitialState())};
  Store y = program.storeOf(op.getResult());
  ShortConvParams params = shortConvParams(x, op.getWeight());
  params.xStride = xStride, params.yStride = y.stride;
  params.hasBias = !!op.getBias(), params.hasSegments = !!op.getSegments(),
  params.hasState = !!op.getInitialState();
  params.hasFinalState = op.getReturnState();
  operands.push_back(op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                         : program.absent());
  program.launch("short_conv_forward", x.element, rowItems(params) * channelBlocks(params),
                 wordsOf(params), operands, y, LaunchShape{threads(params), 0});
  return success();
}

static LogicalResult lower(ShortConvGradOp op, ProgramBuilder &program) {
  int64_t xStride, dyStride;
  View x = program.rows(op.getX(), xStride), dy = program.rows(op.getCotangent(), dyStride);
  Store dx = program.storeOf(op.getDx());
  ShortConvParams params = shortConvParams(x, op.getWeight());
  params.xStride = xStride, params.yStride = dyStride, params.dxStride = dx.stride;
  params.hasSegments = !!op.getSegments(), params.hasState = !!op.getInitialState(),
  params.hasFinalState = !!op.getStateCotangent();
  const int64_t items = rowItems(params), taps = params.taps, channels = params.channels;
  View partial = program.temporary({items, taps + 1, channels}, x.element);
  BufferUse dState = op.getDinitialState() ? program.use(program.defineDense(op.getDinitialState()))
                                           : program.absent();
  program.launch("short_conv_backward", x.element, items * channelBlocks(params), wordsOf(params),
                 {program.use(x), program.optionalUse(op.getWeight()),
                  program.optionalUse(op.getSegments()), program.optionalUse(op.getInitialState()),
                  program.use(dy), program.optionalUse(op.getStateCotangent()), dState,
                  program.use(partial), program.absent()},
                 dx, LaunchShape{threads(params), 0});
  const int64_t stride = (taps + 1) * channels;
  if (!op.getDweight().use_empty()) {
    View tapMajor = program.temporary({taps, channels}, x.element);
    program.sumPartials(partial, items, stride, tapMajor);
    program.copy(tapMajor.transposed({1, 0}), program.define(op.getDweight())); // any layout
  }
  if (!op.getDbias().use_empty())
    program.sumPartials(partial.sliced({0, taps, 0}, {items, 1, channels}), items, stride,
                        program.defineDense(op.getDbias()));
  return success();
}

} // namespace cuda

template <> LogicalResult lower(ShortConvOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(ShortConvGradOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
