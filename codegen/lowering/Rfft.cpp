//===- Rfft.cpp - transforms of filters -------------------------------------===//
#include "codegen/kernels/cuda/RfftLaunch.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

/// The transform of `points` points: constants and twiddles.
static RfftParams rfftParams(int64_t points, int64_t channels, bool weighted) {
  // A convolution whose inputs and outputs are `points` and `points/2 + 1`, either way round.
  return {points, channels, rfftTransformSize(points), weighted};
}

static BufferUse twiddlesOf(ProgramBuilder &program, const RfftParams &params, Type element) {
  FFTConvParams table{};
  table.transformSize = params.transformSize;
  return program.use(
      program.constantTable("fftconv_twiddles", element, 1, wordsOf(table),
                            element.isF64() ? fftconvTwiddleElements<double>(params.transformSize)
                                            : fftconvTwiddleElements<float>(params.transformSize)));
}

static void transform(ProgramBuilder &program, StringRef kernel, const RfftParams &params,
                      Type element, ArrayRef<BufferUse> buffers) {
  bool wide = element.isF64();
  program.launch(kernel, element, ceilDiv(params.channels, wide ? lanes<double> : lanes<float>),
                 wordsOf(params), buffers,
                 wide ? rfftScratch<double>(params) : rfftScratch<float>(params));
}

static LogicalResult lower(RfftOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), re = program.defineDense(op.getRe()),
       im = program.defineDense(op.getIm());
  RfftParams params = rfftParams(x.shape[0], x.shape[1], op.getWeighted());
  transform(
      program, "rfft", params, x.element,
      {program.use(x), twiddlesOf(program, params, x.element), program.use(re), program.use(im)});
  return success();
}

static LogicalResult lower(IrfftOp op, ProgramBuilder &program) {
  View re = program.dense(op.getRe()), im = program.dense(op.getIm()),
       x = program.defineDense(op.getResult());
  RfftParams params = rfftParams(x.shape[0], x.shape[1], op.getWeighted());
  transform(
      program, "irfft", params, x.element,
      {program.use(re), program.use(im), twiddlesOf(program, params, x.element), program.use(x)});
  return success();
}

} // namespace cpu

namespace cuda {

static LaunchShape shapeOfTransform(const RfftParams &params, Type element, int64_t parts) {
  return {threads(params), element.isF64() ? rfftShared<double>(parts) : rfftShared<float>(parts)};
}

static LogicalResult lower(RfftOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), re = program.defineDense(op.getRe()),
       im = program.defineDense(op.getIm());
  RfftParams params{x.shape[0], x.shape[1], 0, op.getWeighted()};
  program.launch("rfft", x.element, blocks(params, params.points / 2 + 1), wordsOf(params),
                 {program.use(x), program.use(re), program.use(im)},
                 shapeOfTransform(params, x.element, 1));
  return success();
}

static LogicalResult lower(IrfftOp op, ProgramBuilder &program) {
  View re = program.dense(op.getRe()), im = program.dense(op.getIm()),
       x = program.defineDense(op.getResult());
  RfftParams params{x.shape[0], x.shape[1], 0, op.getWeighted()};
  program.launch("irfft", x.element, blocks(params, params.points), wordsOf(params),
                 {program.use(re), program.use(im), program.use(x)},
                 shapeOfTransform(params, x.element, 2));
  return success();
}

} // namespace cuda

template <> LogicalResult lower(RfftOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(IrfftOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
