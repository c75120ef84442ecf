//===- ChannelOps.cpp - rules of the ops that mix channels ------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

//===-- linear ---------------------------------------------------------------===//

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX()), weight = shapeOf(adaptor.getWeight());
  if (x.empty() || weight.size() != 2)
    return emitOptionalError(location,
                             "linear: x must be [..., in] and weight [out, in], but they are ",
                             shapeText(x), " and ", shapeText(weight));
  if (!compatible(x.back(), weight[1])) // C1
    return emitOptionalError(location, "linear: weight ", shapeText(weight), " takes ", weight[1],
                             " channels, but x is ", shapeText(x));
  SmallVector<int64_t> shape(x);
  shape.back() = weight[0];
  types.push_back(tensorOf(shape, productResultElement(elementOf(adaptor.getX()))));
  return success();
}

LogicalResult LinearOp::verify() {
  if (Value bias = getBias()) // C2
    if (shapeOf(bias).size() != 1 || !compatible(shapeOf(bias)[0], lastSize(getResult())))
      return emitOpError() << "bias is " << shapeText(shapeOf(bias)) << ", but there are "
                           << lastSize(getResult()) << " outputs";
  return success();
}

//===-- matmul ---------------------------------------------------------------===//

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> a = shapeOf(adaptor.getA()), b = shapeOf(adaptor.getB());
  Type element = productResultElement(elementOf(adaptor.getA()));
  if (adaptor.getTransposeA() && adaptor.getTransposeB()) // C3
    return emitOptionalError(location, "matmul: transpose_a and transpose_b are both set");
  if (a.empty() || b.empty())
    return emitOptionalError(location, "matmul: a scalar has no rows to multiply");
  if (adaptor.getTransposeA()) {
    bool same = a.size() == b.size();
    for (size_t i = 0; same && i + 1 < a.size(); ++i)
      same = compatible(a[i], b[i]);
    if (!same) // C1
      return emitOptionalError(location, "matmul: leading dimensions of ", shapeText(a), " and ",
                               shapeText(b), " differ");
    types.push_back(tensorOf({a.back(), b.back()}, element));
    return success();
  }
  if (b.size() != 2) // C2
    return emitOptionalError(location, "matmul: b must be a matrix, but is ", shapeText(b));
  int64_t inner = adaptor.getTransposeB() ? b[1] : b[0],
          outer = adaptor.getTransposeB() ? b[0] : b[1];
  if (!compatible(a.back(), inner)) // C1
    return emitOptionalError(location, "matmul: ", shapeText(a), " by ", shapeText(b),
                             ": inner sizes ", a.back(), " and ", inner, " differ");
  SmallVector<int64_t> shape(a);
  shape.back() = outer;
  types.push_back(tensorOf(shape, element));
  return success();
}

//===-- norms ----------------------------------------------------------------===//

static LogicalResult verifyPerChannel(Operation *op, StringRef what, Value vector, Value x) {
  if (vector && (shapeOf(vector).size() != 1 || !compatible(shapeOf(vector)[0], lastSize(x))))
    return op->emitOpError() << what << " is " << shapeText(shapeOf(vector)) << ", but x has "
                             << lastSize(x) << " channels";
  return success();
}

template <typename Adaptor>
static LogicalResult inferNorm(std::optional<Location> location, Adaptor adaptor,
                               SmallVectorImpl<Type> &types) {
  if (shapeOf(adaptor.getX()).empty())
    return emitOptionalError(location, "a norm needs at least one dimension");
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferNorm(location, adaptor, types);
}
LogicalResult RmsNormOp::verify() {
  return verifyPerChannel(*this, "weight", getWeight(), getX());
} // C1

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferNorm(location, adaptor, types);
}
LogicalResult LayerNormOp::verify() { // C1
  if (failed(verifyPerChannel(*this, "weight", getWeight(), getX())))
    return failure();
  return verifyPerChannel(*this, "bias", getBias(), getX());
}

LogicalResult RmsNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(inferNorm(location, adaptor, types)))
    return failure();
  types.push_back(tensorOf({lastSize(adaptor.getX())}, elementOf(adaptor.getX())));
  return success();
}
LogicalResult RmsNormGradOp::verify() {
  if (failed(verifyPerChannel(*this, "weight", getWeight(), getX()))) // C1
    return failure();
  return verifyCotangent(*this, "cotangent", getCotangent(), "x", getX()); // C2
}

LogicalResult LayerNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(inferNorm(location, adaptor, types)))
    return failure();
  types.append(2, tensorOf({lastSize(adaptor.getX())}, elementOf(adaptor.getX())));
  return success();
}
LogicalResult LayerNormGradOp::verify() {
  if (failed(verifyPerChannel(*this, "weight", getWeight(), getX()))) // C1
    return failure();
  return verifyCotangent(*this, "cotangent", getCotangent(), "x", getX()); // C2
}
