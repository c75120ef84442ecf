//===- Reduce.cpp - sums, means and maxima ----------------------------------===//
#include "codegen/kernels/Kernel.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

/// Where few results, each of many elements, leave a device idle: parts of the first dimension, as
/// many as divide it and are wanted; else 1.
static int64_t partsOf(ReduceOp op, const ProgramBuilder &program) {
  constexpr int64_t leastElements = 8192; // of a result: a second launch is worth it
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  if (program.backend().device.kind != Device::Cuda || program.inTiles() || op.getAxes().empty() ||
      op.getAxes().front() != 0)
    return 1;
  const int64_t results = elementCount(shapeOf(op.getResult())),
                each = elementCount(shape) / results,
                most =
                    std::min(program.backend().itemsOfSums() / results, each / leastElements * 8);
  int64_t parts = 1;
  for (int64_t n = 2; n <= most; ++n)
    if (shape.front() % n == 0)
      parts = n;
  return parts;
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
  View from = program.view(op.getX()), result = program.defineDense(op.getResult());
  if (const int64_t parts = partsOf(op, program); !inParts && parts > 1) {
    SmallVector<int64_t> cut{parts, shape.front() / parts}, axes;
    cut.append(shape.begin() + 1, shape.end());
    for (int64_t axis : op.getAxes())
      axes.push_back(axis + 1);
    std::optional<View> divided = from.reshaped(cut);
    if (!divided)
      divided = program.denseCopy(from).reshaped(cut);
    View partial = program.temporary({parts, result.elements()}, result.element);
    program.reduce(op.getKind(), *divided, axes, partial);
    program.reduce(op.getKind(), partial, {0}, result); // parts are equal: a mean of means too
    return success();
  }
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
