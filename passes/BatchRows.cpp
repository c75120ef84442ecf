//===- BatchRows.cpp - whether the sequences of a batch meet -----------------===//
//
// Positions of a sequence and rows of a batch are asked for alike: what an op says of its operand's
// positions along a dimension (dialect/SequenceUse.h) it says of any dimension.
//
//===----------------------------------------------------------------------===//
#include "passes/BatchRows.h"
#include "dialect/SequenceUse.h"
#include "dialect/Shapes.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace hybrid {
namespace {

/// Where a reshape puts the rows of dimension `axis`: the dimension of the result that counts the
/// same elements in the same order, perhaps with those behind it as its faster part. -1: none.
int64_t placeAfterReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int64_t axis) {
  int64_t before = 1;
  for (int64_t i = 0; i < axis; ++i)
    before *= from[static_cast<size_t>(i)];
  int64_t here = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i) {
    if (here == before && to[static_cast<size_t>(i)] % from[static_cast<size_t>(axis)] == 0)
      return i;
    here *= to[static_cast<size_t>(i)];
  }
  return -1;
}

class Rows {
public:
  /// The op in which rows meet; null when they never do.
  Operation *follow(func::FuncOp forward, StringRef &why) {
    for (BlockArgument argument : forward.getArguments())
      if (!shapeOf(argument).empty())
        axes[argument] = 0;
    for (Operation &op : forward.getBody().front().without_terminator())
      if (!follow(op, why))
        return &op;
    return nullptr;
  }

private:
  bool follow(Operation &op, StringRef &why) {
    for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
      auto found = axes.find(operand);
      if (found == axes.end())
        continue;
      const int64_t axis = found->second;
      for (OpResult result : op.getResults()) {
        if (result.use_empty())
          continue;
        int64_t place = -1;
        if (isa<ReshapeOp>(op)) {
          place = placeAfterReshape(shapeOf(operand), shapeOf(result), axis);
          why = "it takes the rows of the batch apart";
        } else if (isa<StatefulOp>(op) && axis == 0) {
          place = 0; // its states are those of sequences, each of one row
        } else {
          const SequenceUse use =
              sequenceUseOf(&op, static_cast<unsigned>(index), axis, result.getResultNumber());
          why = use.why.empty() ? "rows of the batch meet in it" : use.why;
          if (use.kind == SequenceUse::Kind::Same && use.shift == 0)
            place = use.axis;
        }
        if (place < 0)
          return false;
        auto [entry, isNew] = axes.try_emplace(result, place);
        if (!isNew && entry->second != place)
          return false;
      }
    }
    return true;
  }

  llvm::DenseMap<Value, int64_t> axes; // the dimension of a value that counts rows of the batch
};

} // namespace

LogicalResult checkRowsAreAlone(func::FuncOp forward) {
  StringRef why;
  Operation *op = Rows().follow(forward, why);
  if (!op)
    return success();
  return op->emitError() << "--data-parallel: " << op->getName().stripDialect()
                         << " needs all sequences of the batch (" << why
                         << "), and each rank has its own: train on one rank";
}

} // namespace hybrid
