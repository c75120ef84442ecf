//===- Reduce.cpp - sums, means and maxima ----------------------------------===//
#include "codegen/kernels/Kernel.h"
#include "codegen/lowering/Fused.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

/// The operands of a region as matrices; none when one of them is not.
static std::optional<Load> asMatrix(const Load &load, int64_t rows, int64_t columns) {
  Load matrix{{}, load.body};
  for (const View &operand : load.operands) {
    std::optional<View> reshaped = operand.reshaped({rows, columns});
    if (!reshaped)
      return std::nullopt;
    matrix.operands.push_back(*reshaped);
  }
  return matrix;
}

template <> LogicalResult lower(ReduceOp op, ProgramBuilder &program) {
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  bool leading = op.getKind() != ReduceKind::Max;
  int64_t rows = 1;
  for (auto [i, axis] : llvm::enumerate(op.getAxes())) {
    leading &= axis == static_cast<int64_t>(i);
    rows *= shape[i];
  }
  const int64_t columns = elementCount(shape) / rows;
  const bool inParts = leading && rows > 1 && columns > 1 &&
                       (program.inTiles() || program.backend().sumsInParts(rows));
  Load from;
  auto made = op.getX().getDefiningOp<FusedOp>();
  if (made && isReduced(made, program) && !program.isAbsorbed(made)) {
    from.body = &made.getBody().front();
    for (Value operand : made.getOperands())
      from.operands.push_back(program.view(operand).broadcastTo(shape));
    if (inParts && !asMatrix(from, rows, columns)) { // it needs a place after all
      computeRegion(made, program);
      from = {};
    }
  }
  if (!from.body)
    from.operands = {program.view(op.getX())};
  View result = program.defineDense(op.getResult());
  auto launch = [&](const GeneratedKernel &kernel, const Load &load, const View &to) {
    SmallVector<BufferUse> buffers;
    for (const View &operand : load.operands)
      buffers.push_back(program.use(operand));
    buffers.push_back(program.use(to));
    program.launchGenerated(kernel, buffers);
  };
  if (inParts) {
    std::optional<Load> matrix = asMatrix(from, rows, columns);
    if (!matrix)
      matrix = asMatrix({{program.denseCopy(from.operands[0])}}, rows, columns);
    int64_t perItem = program.rowsPerItem(rows), items = ceilDiv(rows, perItem);
    View partial = program.temporary({items, columns}, result.element);
    double scale = op.getKind() == ReduceKind::Mean ? 1.0 / static_cast<double>(rows) : 1.0;
    launch(program.backend().rowSums(program.tables, *matrix, perItem, partial, scale), *matrix,
           partial);
    program.sumPartials(partial, items, columns, result);
    return success();
  }
  launch(program.backend().reduction(program.tables, op.getKind(), from, op.getAxes(), result),
         from, result);
  return success();
}

} // namespace hybrid
