//===- ModalFilter.cpp - filters that are sums of exponentials --------------===//
#include "codegen/kernels/ModalFilter.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(ModalFilterOp op, ProgramBuilder &program) {
  View y = program.defineDense(op.getResult());
  ModalFilterParams params{y.shape[0], y.shape[1], shapeOf(op.getRe())[0]};
  program.launch<ModalFilter>(y.element, params,
                              {program.optionalUse(op.getLogDecay()),
                               program.optionalUse(op.getAngle()), program.optionalUse(op.getRe()),
                               program.optionalUse(op.getIm()), y});
  return success();
}

template <> LogicalResult lower(ModalFilterGradOp op, ProgramBuilder &program) {
  View dy = program.dense(op.getCotangent());
  ModalFilterParams params{dy.shape[0], dy.shape[1], shapeOf(op.getRe())[0]};
  const int64_t blocks = program.ask<ModalFilterBlocks>(dy.element, params),
                stride = 4 * params.states * params.channels;
  View partial = program.temporary({blocks, 4, params.states, params.channels}, dy.element);
  program.launch<ModalFilterBackward>(
      dy.element, params,
      {program.optionalUse(op.getLogDecay()), program.optionalUse(op.getAngle()),
       program.optionalUse(op.getRe()), program.optionalUse(op.getIm()), dy, partial});
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (!result.use_empty())
      program.sumPartials(partial.sliced({0, static_cast<int64_t>(i), 0, 0},
                                         {blocks, 1, params.states, params.channels}),
                          blocks, stride, program.defineDense(result));
  return success();
}

} // namespace hybrid
