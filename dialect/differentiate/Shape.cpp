//===- Shape.cpp - gradients of ops that rearrange --------------------------===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult ReshapeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  gradients.push_back(ExpressionBuilder{builder, getLoc()}.reshape(cotangents[0], shapeOf(getX())));
  return success();
}

LogicalResult TransposeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                    SmallVectorImpl<Value> &gradients) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    inverse[axis] = static_cast<int64_t>(i);
  gradients.push_back(
      TransposeOp::create(builder, getLoc(), cotangents[0], builder.getDenseI64ArrayAttr(inverse)));
  return success();
}

LogicalResult BroadcastOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                    SmallVectorImpl<Value> &gradients) {
  gradients.push_back(
      ExpressionBuilder{builder, getLoc()}.unbroadcast(cotangents[0], shapeOf(getX())));
  return success();
}

LogicalResult SplitOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                SmallVectorImpl<Value> &gradients) {
  SmallVector<Value> parts;
  for (auto [part, cotangent] : llvm::zip(getParts(), cotangents))
    parts.push_back(cotangent ? cotangent
                              : ConstantOp::create(builder, getLoc(), part.getType(),
                                                   builder.getF64FloatAttr(0))
                                    .getResult());
  gradients.push_back(ConcatOp::create(builder, getLoc(), parts, getAxis()));
  return success();
}

LogicalResult ConcatOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                 SmallVectorImpl<Value> &gradients) {
  SmallVector<int64_t> sizes;
  for (Value part : getParts())
    sizes.push_back(shapeOf(part)[getAxis()]);
  auto split = SplitOp::create(builder, getLoc(), cotangents[0], getAxis(), sizes);
  llvm::append_range(gradients, split.getParts());
  return success();
}

LogicalResult SliceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                SmallVectorImpl<Value> &gradients) {
  gradients.push_back(PadOp::create(builder, getLoc(), cotangents[0], getStartsAttr(),
                                    shapeAttr(getContext(), shapeOf(getX()))));
  return success();
}

LogicalResult PadOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                              SmallVectorImpl<Value> &gradients) {
  gradients.push_back(SliceOp::create(builder, getLoc(), cotangents[0], getStartsAttr(),
                                      shapeAttr(getContext(), shapeOf(getX()))));
  return success();
}

LogicalResult ReverseOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                  SmallVectorImpl<Value> &gradients) {
  gradients.push_back(ReverseOp::create(builder, getLoc(), cotangents[0], getAxis()));
  return success();
}
