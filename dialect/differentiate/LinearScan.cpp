//===- LinearScan.cpp - gradient of the scan of an outer-product state ------===//
#include "dialect/differentiate/Gradients.h"

using namespace mlir;
using namespace hybrid;

LogicalResult LinearScanOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                     SmallVectorImpl<Value> &gradients) {
  Value dy = cotangents[0];
  if (!dy)
    dy = ConstantOp::create(builder, getLoc(), getResult().getType(), builder.getF64FloatAttr(0));
  auto gradient = LinearScanGradOp::create(
      builder, getLoc(), getQ(), getK(), getV(), getDecay(), getSegments(), getInitialState(), dy,
      cotangents.size() > 1 ? cotangents[1] : Value(), getHeads(), getScale(), getExclusive());
  gradients.append({gradient.getDq(), gradient.getDk(), gradient.getDv()});
  if (getDecay())
    gradients.push_back(gradient.getDdecay());
  if (getSegments())
    gradients.push_back(Value());
  if (getInitialState())
    gradients.push_back(gradient.getDinitialState());
  return success();
}
