//===- Rfft.cpp - transforms of filters -------------------------------------===//
#include "codegen/kernels/Rfft.h"
#include "codegen/kernels/Transforms.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// Launches a transform; of its buffers `x` has `points` rows.
template <typename Kernel>
static void transform(RfftParams params, Type element, ArrayRef<View> buffers,
                      ProgramBuilder &program) {
  params.transformSize = program.ask<RfftTransformSize>(element, params);
  SmallVector<BufferUse> uses =
      llvm::map_to_vector(buffers, [&](const View &view) { return program.use(view); });
  if (program.device().kind == Device::Cpu)
    uses.push_back(program.use(program.constantTable<FFTTable>(
        element, {params.transformSize}, fftTableElements(params.transformSize))));
  program.launch<Kernel>(element, params, uses);
}

static bool takesLibrary(const RfftParams &params, const DeviceTraits &device) {
  return device.kind == Device::Cuda && cuda::transformsByLibrary(device.transforms, params.points);
}

static View spectrumOf(const RfftParams &params, Type element, ProgramBuilder &program) {
  return program.temporary({params.points / 2 + 1, params.channels, 2}, element);
}

template <> LogicalResult lower(RfftOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), re = program.defineDense(op.getRe()),
       im = program.defineDense(op.getIm());
  const RfftParams params{x.shape[0], x.shape[1], 0, op.getWeighted()};
  if (!takesLibrary(params, program.device())) {
    transform<Rfft>(params, x.element, {x, re, im}, program);
    return success();
  }
  View spectrum = spectrumOf(params, x.element, program);
  program.fourier(x, spectrum, /*inverse=*/false);
  program.launch<RfftSplit>(x.element, params, {spectrum, re, im});
  return success();
}

template <> LogicalResult lower(IrfftOp op, ProgramBuilder &program) {
  View re = program.dense(op.getRe()), im = program.dense(op.getIm()),
       x = program.defineDense(op.getResult());
  const RfftParams params{x.shape[0], x.shape[1], 0, op.getWeighted()};
  if (!takesLibrary(params, program.device())) {
    transform<Irfft>(params, x.element, {re, im, x}, program);
    return success();
  }
  View spectrum = spectrumOf(params, x.element, program);
  program.launch<IrfftJoin>(x.element, params, {re, im, spectrum});
  program.fourier(x, spectrum, /*inverse=*/true);
  return success();
}

} // namespace hybrid
