//===- LowerElementwise.cpp - fused regions and reductions ------------------===//
#include "codegen/kernels/Kernels.h"
#include "codegen/program/ProgramBuilder.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

LogicalResult lower(FusedOp op, ProgramBuilder &program) {
  if (op.getNumResults() == 0)
    return success();
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
  return success();
}

LogicalResult lower(RowTilesOp op, ProgramBuilder &program) { return program.lowerTiles(op); }

LogicalResult lower(ReduceOp op, ProgramBuilder &program) {
  View x = program.view(op.getX()), result = program.defineDense(op.getResult());
  bool leading = op.getKind() != ReduceKind::Max;
  for (auto [i, axis] : llvm::enumerate(op.getAxes()))
    leading &= axis == static_cast<int64_t>(i);
  int64_t rows = 1;
  for (size_t i = 0; i < op.getAxes().size(); ++i)
    rows *= x.shape[i];
  int64_t columns = x.elements() / rows;
  if (leading && rows > 1 && columns > 1 &&
      (program.inTiles() || program.backend().sumsInParts(rows))) {
    std::optional<View> matrix = x.reshaped({rows, columns});
    if (!matrix)
      matrix = program.denseCopy(x).reshaped({rows, columns});
    int64_t perItem = program.rowsPerItem(rows), items = ceilDiv(rows, perItem);
    View partial = program.temporary({items, columns}, x.element);
    double scale = op.getKind() == ReduceKind::Mean ? 1.0 / static_cast<double>(rows) : 1.0;
    program.launchGenerated(
        program.backend().rowSums(program.tables, *matrix, perItem, partial, scale),
        {program.use(*matrix), program.use(partial)});
    program.sumPartials(partial, items, columns, result);
    return success();
  }
  program.launchGenerated(
      program.backend().reduction(program.tables, op.getKind(), x, op.getAxes(), result),
      {program.use(x), program.use(result)});
  return success();
}

} // namespace hybrid
