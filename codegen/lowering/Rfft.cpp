//===- Rfft.cpp - transforms of filters -------------------------------------===//
#include "codegen/kernels/Rfft.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// Launches a transform; of its buffers `x` has `points` rows.
template <typename Kernel, typename Op>
static LogicalResult transform(Op op, const View &x, ArrayRef<View> buffers,
                               ProgramBuilder &program) {
  RfftParams params{x.shape[0], x.shape[1], 0, op.getWeighted()};
  params.transformSize = program.ask<RfftTransformSize>(x.element, params);
  SmallVector<BufferUse> uses =
      llvm::map_to_vector(buffers, [&](const View &view) { return program.use(view); });
  if (program.device().kind == Device::Cpu)
    uses.push_back(program.use(program.constantTable<FFTTable>(
        x.element, {params.transformSize}, fftTableElements(params.transformSize))));
  program.launch<Kernel>(x.element, params, uses);
  return success();
}

template <> LogicalResult lower(RfftOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), re = program.defineDense(op.getRe()),
       im = program.defineDense(op.getIm());
  return transform<Rfft>(op, x, {x, re, im}, program);
}

template <> LogicalResult lower(IrfftOp op, ProgramBuilder &program) {
  View re = program.dense(op.getRe()), im = program.dense(op.getIm()),
       x = program.defineDense(op.getResult());
  return transform<Irfft>(op, x, {re, im, x}, program);
}

} // namespace hybrid
