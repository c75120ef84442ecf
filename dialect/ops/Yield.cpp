//===- Yield.cpp - results of a body, and what all bodies have to be --------===//
#include "dialect/HybridOps.h"

using namespace mlir;
using namespace hybrid;

LogicalResult hybrid::verifyBody(Operation *op) {
  if (op->getRegion(0).empty())
    return success();
  Block &block = op->getRegion(0).front();
  auto body = cast<BodyOp>(op);
  SmallVector<Type> expected = body.getBodyArgumentTypes(), results = body.getBodyResultTypes();
  if (block.getArgumentTypes() != TypeRange(expected)) // C1
    return op->emitOpError() << "operands are for a body of (" << TypeRange(expected)
                             << "), but the body takes (" << block.getArgumentTypes() << ")";
  auto yield = block.empty() ? nullptr : dyn_cast<YieldOp>(block.back());
  if (!yield) // C2
    return op->emitOpError() << "body must end with hybrid.yield";
  if (yield.getOperandTypes() != TypeRange(results)) // C2
    return op->emitOpError() << "results are of types (" << TypeRange(results)
                             << "), but the body yields (" << yield.getOperandTypes() << ")";
  return success();
}

LogicalResult YieldOp::verify() {
  if (!isa<BodyOp>(getOperation()->getParentOp())) // C1
    return emitOpError() << "stands in '" << getOperation()->getParentOp()->getName()
                         << "', which is no op that runs a body";
  return success();
}
