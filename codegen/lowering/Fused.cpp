//===- Fused.cpp - regions of elementwise ops -------------------------------===//
#include "codegen/lowering/Fused.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

void computeRegion(FusedOp op, ProgramBuilder &program) {
  ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
  SmallVector<View> operands, results;
  SmallVector<BufferUse> buffers;
  for (Value operand : op.getOperands()) {
    View view = program.view(operand);
    buffers.push_back(program.use(view));
    operands.push_back(view.broadcastTo(shape));
  }
  for (Value result : op.getResults()) {
    results.push_back(program.define(result));
    buffers.push_back(program.use(results.back()));
  }
  program.launchGenerated(program.backend().elementwise(program.tables, &op.getBody().front(),
                                                        operands, results, program.inTiles()),
                          buffers);
}

bool isReduced(FusedOp op, ProgramBuilder &program) {
  if (!program.backend().reducesRegions() || program.inTiles() || op.getNumResults() != 1 ||
      !op.getResult(0).hasOneUse())
    return false;
  auto reduce = dyn_cast<ReduceOp>(*op.getResult(0).user_begin());
  if (!reduce || reduce->getBlock() != op->getBlock())
    return false;
  for (Operation *between = op; between != reduce; between = between->getNextNode())
    if (isa<AssignOp>(between)) // what the region reads is not what it was
      return false;
  return true;
}

template <> LogicalResult lower(FusedOp op, ProgramBuilder &program) {
  if (op.getNumResults() == 0 || isReduced(op, program))
    return success();
  computeRegion(op, program);
  return success();
}

} // namespace hybrid
