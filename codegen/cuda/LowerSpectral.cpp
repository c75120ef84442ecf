//===- LowerSpectral.cpp - what long filters are made with, on CUDA ---------===//
#include "codegen/cuda/Lowerings.h"
#include "codegen/cuda/kernels/ModalFilterLaunch.h"
#include "codegen/cuda/kernels/RfftLaunch.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::cuda {

static LaunchShape shapeOfTransform(const RfftParams &params, Type element, int64_t parts) {
  return {threads(params), element.isF64() ? rfftShared<double>(parts) : rfftShared<float>(parts)};
}

LogicalResult lower(RfftOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), re = program.defineDense(op.getRe()),
       im = program.defineDense(op.getIm());
  RfftParams params{x.shape[0], x.shape[1], 0, op.getWeighted()};
  program.launch("rfft", x.element, blocks(params, params.points / 2 + 1), wordsOf(params),
                 {program.use(x), program.use(re), program.use(im)},
                 shapeOfTransform(params, x.element, 1));
  return success();
}

LogicalResult lower(IrfftOp op, ProgramBuilder &program) {
  View re = program.dense(op.getRe()), im = program.dense(op.getIm()),
       x = program.defineDense(op.getResult());
  RfftParams params{x.shape[0], x.shape[1], 0, op.getWeighted()};
  program.launch("irfft", x.element, blocks(params, params.points), wordsOf(params),
                 {program.use(re), program.use(im), program.use(x)},
                 shapeOfTransform(params, x.element, 2));
  return success();
}

LogicalResult lower(ModalFilterOp op, ProgramBuilder &program) {
  View y = program.defineDense(op.getResult());
  ModalFilterParams params{y.shape[0], y.shape[1], shapeOf(op.getRe())[0]};
  program.launch("modal_filter", y.element, blocks(params), wordsOf(params),
                 {program.optionalUse(op.getLogDecay()), program.optionalUse(op.getAngle()),
                  program.optionalUse(op.getRe()), program.optionalUse(op.getIm()), program.use(y)},
                 LaunchShape{threads(params), 0});
  return success();
}

LogicalResult lower(ModalFilterGradOp op, ProgramBuilder &program) {
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

} // namespace hybrid::cuda
