//===- StraightLine.cpp - the form of function that graph passes work on ----===//
#include "passes/StraightLine.h"

using namespace mlir;

namespace {

LogicalResult verifyTensors(Operation *op, StringRef what, TypeRange types) {
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.getElementType().isIntOrFloat())
      return op->emitError() << what << " of type " << type
                             << ", expected ranked tensors of numbers";
  }
  return success();
}

} // namespace

LogicalResult hybrid::verifyStraightLine(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "@" << function.getSymName() << " has "
                                << function.getBody().getBlocks().size()
                                << " blocks, expected a body of one";
  Block &block = function.getBody().front();
  if (!isa<func::ReturnOp>(block.back()))
    return block.back().emitError() << "@" << function.getSymName() << " ends in '"
                                    << block.back().getName() << "', expected a return";
  if (failed(verifyTensors(function, "has an argument", function.getArgumentTypes())))
    return failure();
  for (Operation &op : block)
    if (failed(verifyTensors(&op, "has a result", op.getResultTypes())))
      return failure();
  return success();
}
