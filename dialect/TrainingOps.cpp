//===- TrainingOps.cpp - rules of the losses --------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  if (shapeOf(adaptor.getLogits()).empty())
    return emitOptionalError(location, "cross_entropy: logits must be [..., classes]");
  types.append(3, tensorOf({}, elementOf(adaptor.getLogits())));
  return success();
}

LogicalResult CrossEntropyOp::verify() {
  auto matches = [](ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) { return compatible(std::get<0>(pair), std::get<1>(pair)); });
  };
  ArrayRef<int64_t> logits = shapeOf(getLogits()), targets = shapeOf(getTargets());
  if (!matches(logits.drop_back(), targets)) // C1
    return emitOpError() << "targets are " << shapeText(targets) << ", but logits are " << shapeText(logits) << ": expected "
                         << shapeText(logits.drop_back());
  if (getWeights() && !matches(shapeOf(getWeights()), targets)) // C2
    return emitOpError() << "weights are " << shapeText(shapeOf(getWeights())) << ", but targets are " << shapeText(targets);
  return success();
}

LogicalResult CrossEntropyGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getLogits().getType());
  return success();
}
