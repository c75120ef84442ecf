//===- Linear.cpp - linear projection of the last dimension ---------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(LinearOp) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX()), weight = shapeOf(adaptor.getWeight());
  if (x.empty() || weight.size() != 2)
    return emitOptionalError(location,
                             "linear: x must be [..., in] and weight [out, in], but they are ",
                             shapeText(x), " and ", shapeText(weight));
  if (!compatible(x.back(), weight[1])) // C1
    return emitOptionalError(location, "linear: weight takes ", weight[1], " channels, but x is ",
                             shapeText(x));
  SmallVector<int64_t> shape(x);
  shape.back() = weight[0];
  return give(types, {tensorOf(shape, productResultElement(elementOf(adaptor.getX())))});
}

LogicalResult LinearOp::verify() {
  if (Value bias = getBias()) // C2
    if (shapeOf(bias).size() != 1 || !compatible(shapeOf(bias)[0], lastSize(getResult())))
      return emitOpError() << "bias is " << shapeText(shapeOf(bias)) << ", but there are "
                           << lastSize(getResult()) << " outputs";
  return success();
}

// dx = dy W, dW = Σ dyᵀ x, db = Σ dy.
HYBRID_VJP(LinearOp) {
  ExpressionBuilder e{builder, getLoc()};
  Value dy = cotangents[0];
  gradients.push_back(MatmulOp::create(builder, getLoc(), dy, getWeight(), false, false));
  gradients.push_back(MatmulOp::create(builder, getLoc(), dy, getX(), true, false));
  if (getBias())
    gradients.push_back(e.sumLeading(dy));
  return success();
}

HYBRID_FLOPS(LinearOp, 2 * elementCount(getResult()) * shapeOf(getWeight())[1], "2·B·L·in·out")
