//===- Rfft.cpp - Fourier transform of real columns and back --------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include <cmath>

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(RfftOp) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  if (x.size() != 2) // C1
    return emitOptionalError(location, "rfft: x is ", shapeText(x),
                             ", expected [points, channels]");
  int64_t bins = ShapedType::isDynamic(x[0]) ? x[0] : x[0] / 2 + 1;
  types.append(2, tensorOf({bins, x[1]}, elementOf(adaptor.getX())));
  return success();
}

HYBRID_INFER(IrfftOp) {
  ArrayRef<int64_t> re = shapeOf(adaptor.getRe()), im = shapeOf(adaptor.getIm());
  int64_t length = adaptor.getLength();
  if (length < 1 || length > INT32_MAX) // C2
    return emitOptionalError(location, "irfft: length = ", length, ", expected 1 to 2^31 - 1");
  int64_t bins = length / 2 + 1;
  if (re.size() != 2 || !compatibleShapes(re, im) || !compatible(re[0], bins)) // C1
    return emitOptionalError(location, "irfft: re is ", shapeText(re), " and im ", shapeText(im),
                             ", but length ", length, " has ", bins, " bins: expected [", bins,
                             ", channels]");
  return give(types, {tensorOf({length, re[1]}, elementOf(adaptor.getRe()))});
}

HYBRID_VJP(RfftOp) {
  Value re = orZeros(builder, cotangents[0], getRe());
  Value im = orZeros(builder, cotangents[1], getIm());
  return give(gradients,
              {IrfftOp::create(builder, getLoc(), re, im, shapeOf(getX())[0], getWeighted())});
}

HYBRID_VJP(IrfftOp) {
  auto spectrum = RfftOp::create(builder, getLoc(), cotangents[0], getWeighted());
  llvm::append_range(gradients, spectrum.getResults());
  return success();
}

// Three complex transforms of the next power of two above 2N (Bluestein).
static int64_t transformFlops(int64_t length, int64_t columns) {
  double size = 4.0 * static_cast<double>(length);
  return static_cast<int64_t>(15 * size * std::log2(size)) * columns;
}
HYBRID_FLOPS(RfftOp, transformFlops(shapeOf(getX())[0], lastSize(getX())), "60·N·log2(4N)·C")

HYBRID_FLOPS(IrfftOp, transformFlops(static_cast<int64_t>(getLength()), lastSize(getRe())),
             "60·N·log2(4N)·C")
