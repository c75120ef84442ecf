//===- TrainingOps.cpp - rules of the losses --------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.append(3, tensorOf({}, elementOf(adaptor.getLogits())));
  return success();
}

/// What the loss and its gradient ask in common.
template <typename Op> static LogicalResult verifyLoss(Op op) {
  ArrayRef<int64_t> logits = shapeOf(op.getLogits()), targets = shapeOf(op.getTargets());
  if (logits.empty()) // C1
    return op.emitOpError() << "logits are a scalar, expected [..., classes]";
  if (!compatibleShapes(logits.drop_back(), targets)) // C1
    return op.emitOpError() << "targets are " << shapeText(targets) << ", but logits are "
                            << shapeText(logits) << ": expected " << shapeText(logits.drop_back());
  if (op.getWeights() && !compatibleShapes(shapeOf(op.getWeights()), targets)) // C2
    return op.emitOpError() << "weights are " << shapeText(shapeOf(op.getWeights()))
                            << ", but targets are " << shapeText(targets);
  double smoothing = op.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing < 1)) // C3
    return op.emitOpError() << "label_smoothing = " << smoothing
                            << ", expected a number from 0 to below 1";
  return success();
}

LogicalResult CrossEntropyOp::verify() { return verifyLoss(*this); }

LogicalResult TargetWeightOp::verify() {
  if (getWeights() && !compatibleShapes(shapeOf(getWeights()), shapeOf(getTargets()))) // C1
    return emitOpError() << "weights are " << shapeText(shapeOf(getWeights()))
                         << ", but targets are " << shapeText(shapeOf(getTargets()));
  if (!shapeOf(getResult()).empty()) // C2
    return emitOpError() << "gives " << shapeText(shapeOf(getResult())) << ", expected a scalar";
  return success();
}

LogicalResult CrossEntropyGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                   Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getLogits().getType());
  return success();
}

LogicalResult CrossEntropyGradOp::verify() {
  for (auto [name, value] :
       {std::pair("total_weight", getTotalWeight()), std::pair("cotangent", getCotangent())})
    if (!shapeOf(value).empty()) // C4
      return emitOpError() << name << " is " << shapeText(shapeOf(value)) << ", expected a scalar";
  return verifyLoss(*this);
}

LogicalResult AdamWOp::verify() {
  if (shapeOf(getHyper()) != ArrayRef<int64_t>(8)) // C1
    return emitOpError() << "hyper is " << shapeText(shapeOf(getHyper())) << ", expected [8]";
  if (!shapeOf(getGradientNorm()).empty()) // C2
    return emitOpError() << "gradient_norm is " << shapeText(shapeOf(getGradientNorm()))
                         << ", expected a scalar";
  return success();
}
