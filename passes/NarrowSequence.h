//===- NarrowSequence.h - a program for fewer positions ----------------------===//
//
// A program of a whole sequence becomes one of a part of it: what runs along the sequence gets
// another length, and what is the same for all sequences (a filter, a table of positions) keeps
// its own. Of the latter, what meets a value along the sequence element by element is cut, or
// looked up at the positions' numbers where it tells positions apart.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "passes/SequenceAxes.h"
#include <functional>

namespace hybrid {

class SequenceNarrowing {
public:
  /// Of `function`, whose first argument has the sequence in dimension 1, to `length` positions:
  /// those whose numbers an input gives, or those of this one of so many ranks.
  SequenceNarrowing(mlir::func::FuncOp function, int64_t length, int64_t ranks = 0);

  /// Notes what `op` needs, of the whole length; `axes` has followed it.
  void plan(mlir::Operation *op, SequenceAxes &axes);
  /// Lets `how` make what becomes of `op`, whose operands are narrow by then.
  using Replacement = std::function<llvm::LogicalResult(mlir::Operation *)>;
  void replace(mlir::Operation *op, Replacement how) { replaced[op] = std::move(how); }
  /// Gives all ops their new types.
  llvm::LogicalResult apply();

private:
  /// A dimension of an operand that is the same for all sequences.
  struct Cut {
    unsigned operand;
    int64_t dimension;
    bool numbered; // it differs from position to position
  };
  struct Plan {
    llvm::SmallVector<Cut> cuts;
    llvm::SmallVector<int64_t> dimensions; // of each result, along the sequence; -1: none
  };

  llvm::LogicalResult apply(mlir::Operation *op);
  /// `value` as `op` reads it.
  mlir::Value narrowed(mlir::Operation *op, mlir::Value value, const Cut &cut);
  mlir::Value lookedUp(mlir::OpBuilder &builder, mlir::Value value, int64_t dimension);
  mlir::Value positions();
  bool takesRows(mlir::Operation *op, const Cut &cut);

  mlir::func::FuncOp function;
  const int64_t length, whole, ranks;
  mlir::Value numbers;   // of the positions, an input
  bool areOfRows = true; // whether each sequence of the batch has numbers of its own
  llvm::DenseMap<mlir::Operation *, Plan> plans;
  llvm::DenseMap<mlir::Operation *, Replacement> replaced;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> made;
};

} // namespace hybrid
