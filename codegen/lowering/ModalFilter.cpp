//===- ModalFilter.cpp - filters that are sums of exponentials --------------===//
#include "codegen/kernels/cuda/ModalFilterLaunch.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

static int64_t modalGrid(const ModalFilterParams &params) {
  return ceilDiv(params.length, modalFilterBlock) * ceilDiv(params.channels, lanes<double>);
}

static LogicalResult lower(ModalFilterOp op, ProgramBuilder &program) {
  View y = program.defineDense(op.getResult());
  ModalFilterParams params{y.shape[0], y.shape[1], shapeOf(op.getRe())[0]};
  program.launch("modal_filter", y.element, modalGrid(params), wordsOf(params),
                 {program.optionalUse(op.getLogDecay()), program.optionalUse(op.getAngle()),
                  program.optionalUse(op.getRe()), program.optionalUse(op.getIm()),
                  program.use(y)});
  return success();
}

static LogicalResult lower(ModalFilterGradOp op, ProgramBuilder &program) {
  View dy = program.dense(op.getCotangent());
  ModalFilterParams params{dy.shape[0], dy.shape[1], shapeOf(op.getRe())[0]};
  int64_t blocks = ceilDiv(params.length, modalFilterBlock);
  View partial = program.temporary({blocks, 4, params.states, params.channels}, dy.element);
  program.launch("modal_filter_backward", dy.element, modalGrid(params), wordsOf(params),
                 {program.optionalUse(op.getLogDecay()), program.optionalUse(op.getAngle()),
                  program.optionalUse(op.getRe()), program.optionalUse(op.getIm()), program.use(dy),
                  program.use(partial)});
  int64_t stride = 4 * params.states * params.channels;
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (!result.use_empty())
      program.sumPartials(partial.sliced({0, static_cast<int64_t>(i), 0, 0},
                                         {blocks, 1, params.states, params.channels}),
                          blocks, stride, program.defineDense(result));
  return success();
}

} // namespace cpu

namespace cuda {

static LogicalResult lower(ModalFilterOp op, ProgramBuilder &program) {
  View y = program.defineDense(op.getResult());
  ModalFilterParams params{y.shape[0], y.shape[1], shapeOf(op.getRe())[0]};
  program.launch("modal_filter", y.element, blocks(params), wordsOf(params),
                 {program.optionalUse(op.getLogDecay()), program.optionalUse(op.getAngle()),
                  program.optionalUse(op.getRe()), program.optionalUse(op.getIm()), program.use(y)},
                 LaunchShape{threads(params), 0});
  return success();
}

static LogicalResult lower(ModalFilterGradOp op, ProgramBuilder &program) {
  View dy = program.dense(op.getCotangent());
  ModalFilterParams params{dy.shape[0], dy.shape[1], shapeOf(op.getRe())[0]};
  const int64_t parts = modalBlocks(params);
  View partial = program.temporary({parts, 4, params.states, params.channels}, dy.element);
  program.launch("modal_filter_backward", dy.element, blocks(params), wordsOf(params),
                 {program.optionalUse(op.getLogDecay()), program.optionalUse(op.getAngle()),
                  program.optionalUse(op.getRe()), program.optionalUse(op.getIm()), program.use(dy),
                  program.use(partial)},
                 LaunchShape{threads(params), modalBackwardShared});
  const int64_t stride = 4 * params.states * params.channels;
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (!result.use_empty())
      program.sumPartials(partial.sliced({0, static_cast<int64_t>(i), 0, 0},
                                         {parts, 1, params.states, params.channels}),
                          parts, stride, program.defineDense(result));
  return success();
}

} // namespace cuda

template <> LogicalResult lower(ModalFilterOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(ModalFilterGradOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
