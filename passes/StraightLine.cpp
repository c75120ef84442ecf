//===- StraightLine.cpp - the form of function that graph passes work on ----===//
#include "passes/StraightLine.h"
#include "dialect/Shapes.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace {

LogicalResult verifyTensors(Operation *op, StringRef what, TypeRange types) {
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.getElementType().isIntOrFloat())
      return op->emitError() << what << " of type " << type
                             << ", expected ranked tensors of numbers";
    if (llvm::is_contained(tensor.getShape(), 0))
      return op->emitError() << what << " of type " << type << ", expected at least one element";
    if (hybrid::isTooLarge(tensor.getShape()))
      return op->emitError() << what << " of type " << type << ", expected at most 2^40 elements";
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
  // Those of bodies, too.
  return success(!function
                      .walk([](Operation *op) {
                        return failed(verifyTensors(op, "has a result", op->getResultTypes()))
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      })
                      .wasInterrupted());
}

// Not MLIR's backward slice, which recurs: a chain of ops may be longer than the stack is deep.
SmallVector<Operation *> hybrid::sliceOf(Value value) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> slice;
  SmallVector<Value> needed{value};
  while (!needed.empty()) {
    Operation *producer = needed.pop_back_val().getDefiningOp();
    if (!producer || !seen.insert(producer).second)
      continue;
    slice.push_back(producer);
    llvm::append_range(needed, producer->getOperands());
  }
  llvm::sort(slice, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return slice;
}
