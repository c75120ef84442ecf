//===- LowerSpectral.cpp - what long filters are made with ------------------===//
#include "codegen/cpu/Lowerings.h"
#include "codegen/kernels/Kernels.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::cpu {

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

LogicalResult lower(RfftOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), re = program.defineDense(op.getRe()),
       im = program.defineDense(op.getIm());
  RfftParams params = rfftParams(x.shape[0], x.shape[1], op.getWeighted());
  transform(
      program, "rfft", params, x.element,
      {program.use(x), twiddlesOf(program, params, x.element), program.use(re), program.use(im)});
  return success();
}

LogicalResult lower(IrfftOp op, ProgramBuilder &program) {
  View re = program.dense(op.getRe()), im = program.dense(op.getIm()),
       x = program.defineDense(op.getResult());
  RfftParams params = rfftParams(x.shape[0], x.shape[1], op.getWeighted());
  transform(
      program, "irfft", params, x.element,
      {program.use(re), program.use(im), twiddlesOf(program, params, x.element), program.use(x)});
  return success();
}

static int64_t modalGrid(const ModalFilterParams &params) {
  return ceilDiv(params.length, modalFilterBlock) * ceilDiv(params.channels, lanes<double>);
}

LogicalResult lower(ModalFilterOp op, ProgramBuilder &program) {
  View y = program.defineDense(op.getResult());
  ModalFilterParams params{y.shape[0], y.shape[1], shapeOf(op.getRe())[0]};
  program.launch("modal_filter", y.element, modalGrid(params), wordsOf(params),
                 {program.optionalUse(op.getLogDecay()), program.optionalUse(op.getAngle()),
                  program.optionalUse(op.getRe()), program.optionalUse(op.getIm()),
                  program.use(y)});
  return success();
}

LogicalResult lower(ModalFilterGradOp op, ProgramBuilder &program) {
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

} // namespace hybrid::cpu
