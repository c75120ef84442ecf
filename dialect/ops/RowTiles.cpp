//===- RowTiles.cpp - ops that run tile of rows by tile of rows -----------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult RowTilesOp::verify() {
  auto rows = static_cast<int64_t>(getRows()), tile = static_cast<int64_t>(getTile());
  if (tile < 1 || tile > rows) // C4
    return emitOpError() << "has tiles of " << tile << " rows of " << rows;
  Block &block = getBody().front();
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    auto rowwise = dyn_cast<RowwiseOp>(op);
    if (!rowwise || !rowwise.isRowwise() || rowwise.getRowCount() != rows) { // C3
      InFlightDiagnostic diagnostic = emitOpError() << "body holds '" << op.getName()
                                                    << "', expected ops that work on " << rows
                                                    << " rows, and constants";
      diagnostic.attachNote(op.getLoc()) << "the op is here";
      return diagnostic;
    }
    if (rowwise.accumulatesOverRows() && !getSequential()) // C5
      return emitOpError() << "has tiles in parallel, but '" << op.getName()
                           << "' accumulates over rows: make it sequential";
    for (OpResult result : op.getResults())
      if (!rowwise.isRowResult(result.getResultNumber()))
        for (Operation *user : result.getUsers())
          if (user != block.getTerminator()) // C5
            return emitOpError() << "uses a sum over rows of '" << op.getName()
                                 << "' inside the body, where it is not complete";
  }
  return success();
}
