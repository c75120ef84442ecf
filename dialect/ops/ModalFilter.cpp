//===- ModalFilter.cpp - long filter of damped oscillations ---------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(ModalFilterOp) {
  ArrayRef<int64_t> re = shapeOf(adaptor.getRe());
  if (re.size() != 2) // C1
    return emitOptionalError(location, "modal_filter: the operands are ", shapeText(re),
                             ", expected [states, channels]");
  SmallVector<int64_t> length = sizesOf(adaptor.getLength());
  ArrayRef<int64_t> decay = shapeOf(adaptor.getLogDecay()), angle = shapeOf(adaptor.getAngle()),
                    im = shapeOf(adaptor.getIm());
  if (!compatibleShapes(decay, re) || !compatibleShapes(angle, re) ||
      !compatibleShapes(im, re)) // C1
    return emitOptionalError(location, "modal_filter: log_decay is ", shapeText(decay),
                             ", angle is ", shapeText(angle), ", re is ", shapeText(re),
                             " and im is ", shapeText(im), ": expected the same shape");
  if (length.size() != 1) // C2
    return emitOptionalError(location, "modal_filter: length has ", length.size(),
                             " entries, expected one");
  if (!ShapedType::isDynamic(length[0]) && length[0] < 1) // C2
    return emitOptionalError(location, "modal_filter: length = ", length[0],
                             ", expected at least 1");
  return give(types, {tensorOf({length[0], re[1]}, elementOf(adaptor.getRe()))});
}

HYBRID_INFER(ModalFilterGradOp) {
  ArrayRef<int64_t> re = shapeOf(adaptor.getRe()), dh = shapeOf(adaptor.getCotangent());
  if (re.size() != 2) // C1
    return emitOptionalError(location, "modal_filter_grad: the operands are ", shapeText(re),
                             ", expected [states, channels]");
  if (dh.size() != 2 || !compatible(dh[1], re[1])) // C2
    return emitOptionalError(location, "modal_filter_grad: the cotangent is ", shapeText(dh),
                             ", expected [length, ", re[1], "]");
  types.append(4, adaptor.getRe().getType());
  return success();
}

HYBRID_VJP(ModalFilterOp) {
  auto gradient = ModalFilterGradOp::create(builder, getLoc(), getLogDecay(), getAngle(), getRe(),
                                            getIm(), cotangents[0]);
  llvm::append_range(gradients, gradient.getResults());
  return success();
}

HYBRID_FLOPS(ModalFilterOp, 8 * elementCount(getRe()) * shapeOf(getResult())[0], "8·S·L·C")

HYBRID_FLOPS(ModalFilterGradOp, 14 * elementCount(getRe()) * shapeOf(getCotangent())[0], "14·S·L·C")

SmallVector<Value> ModalFilterOp::getModes() {
  return {getLogDecay(), getAngle(), getRe(), getIm()};
}
int64_t ModalFilterOp::getRecurrenceElements() { return 2 * shapeOf(getRe())[0]; } // complex modes
