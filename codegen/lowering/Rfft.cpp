//===- Rfft.cpp - transforms of filters -------------------------------------===//
#include "codegen/kernels/Rfft.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// `x` has `points` rows.
static RfftParams rfftParams(ProgramBuilder &program, const View &x, bool weighted) {
  RfftParams params{x.shape[0], x.shape[1], 0, weighted};
  params.transformSize = program.ask<RfftTransformSize>(x.element, params);
  return params;
}

template <typename Kernel>
static void transform(ProgramBuilder &program, const RfftParams &params, Type element,
                      SmallVector<BufferUse> buffers) {
  if (program.device().kind == Device::Cpu)
    buffers.push_back(program.use(program.constantTable<FFTTable>(
        element, {params.transformSize}, fftTableElements(params.transformSize))));
  program.launch<Kernel>(element, params, buffers);
}

template <> LogicalResult lower(RfftOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), re = program.defineDense(op.getRe()),
       im = program.defineDense(op.getIm());
  transform<Rfft>(program, rfftParams(program, x, op.getWeighted()), x.element,
                  {program.use(x), program.use(re), program.use(im)});
  return success();
}

template <> LogicalResult lower(IrfftOp op, ProgramBuilder &program) {
  View re = program.dense(op.getRe()), im = program.dense(op.getIm()),
       x = program.defineDense(op.getResult());
  transform<Irfft>(program, rfftParams(program, x, op.getWeighted()), x.element,
                   {program.use(re), program.use(im), program.use(x)});
  return success();
}

} // namespace hybrid
