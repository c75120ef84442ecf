//===- Yield.cpp - results of a region --------------------------------------===//
#include "dialect/HybridOps.h"

using namespace mlir;
using namespace hybrid;

LogicalResult hybrid::verifyBody(Operation *op) {
  Block &block = op->getRegion(0).front();
  if (block.getArgumentTypes() != op->getOperandTypes()) // C1
    return op->emitOpError() << "operands are of types (" << op->getOperandTypes()
                             << "), but the body takes (" << block.getArgumentTypes() << ")";
  auto yield = block.empty() ? nullptr : dyn_cast<YieldOp>(block.back());
  if (!yield) // C2
    return op->emitOpError() << "body must end with hybrid.yield";
  if (yield.getOperandTypes() != op->getResultTypes()) // C2
    return op->emitOpError() << "results are of types (" << op->getResultTypes()
                             << "), but the body yields (" << yield.getOperandTypes() << ")";
  return success();
}
