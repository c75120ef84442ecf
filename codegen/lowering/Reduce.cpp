//===- Reduce.cpp - sums, means and maxima ----------------------------------===//
#include "codegen/kernels/Kernel.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

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
  View from = program.view(op.getX()), result = program.defineDense(op.getResult());
  if (!inParts) {
    program.reduce(op.getKind(), from, op.getAxes(), result);
    return success();
  }
  std::optional<View> matrix = from.reshaped({rows, columns});
  if (!matrix)
    matrix = program.denseCopy(from).reshaped({rows, columns});
  int64_t perItem = program.rowsPerItem(rows), items = ceilDiv(rows, perItem);
  View partial = program.temporary({items, columns}, result.element);
  double scale = op.getKind() == ReduceKind::Mean ? 1.0 / static_cast<double>(rows) : 1.0;
  program.rowSums(*matrix, perItem, partial, scale);
  program.sumPartials(partial, items, columns, result);
  return success();
}

} // namespace hybrid
