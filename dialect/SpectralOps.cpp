//===- SpectralOps.cpp - rules of the ops that long filters are made with ---===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult RfftOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  if (x.size() != 2) // C1
    return emitOptionalError(location, "rfft: x is ", shapeText(x),
                             ", expected [points, channels]");
  int64_t bins = ShapedType::isDynamic(x[0]) ? x[0] : x[0] / 2 + 1;
  types.append(2, tensorOf({bins, x[1]}, elementOf(adaptor.getX())));
  return success();
}

LogicalResult IrfftOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> re = shapeOf(adaptor.getRe()), im = shapeOf(adaptor.getIm());
  int64_t length = adaptor.getLength();
  if (length < 1) // C2
    return emitOptionalError(location, "irfft: length = ", length, ", expected at least 1");
  int64_t bins = length / 2 + 1;
  if (re.size() != 2 || !compatibleShapes(re, im) || !compatible(re[0], bins)) // C1
    return emitOptionalError(location, "irfft: re is ", shapeText(re), " and im ", shapeText(im),
                             ", but length ", length, " has ", bins, " bins: expected [", bins,
                             ", channels]");
  types.push_back(tensorOf({length, re[1]}, elementOf(adaptor.getRe())));
  return success();
}

LogicalResult ModalFilterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> re = shapeOf(adaptor.getRe());
  if (re.size() != 2) // C1
    return emitOptionalError(location, "modal_filter: the operands are ", shapeText(re),
                             ", expected [states, channels]");
  SmallVector<int64_t> length = sizesOf(adaptor.getLength());
  if (length.size() != 1) // C2
    return emitOptionalError(location, "modal_filter: length has ", length.size(),
                             " entries, expected one");
  types.push_back(tensorOf({length[0], re[1]}, elementOf(adaptor.getRe())));
  return success();
}

LogicalResult ModalFilterGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &types) {
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
