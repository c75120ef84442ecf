//===- SequenceUse.h - which positions of a sequence a result reads ----------===//
#pragma once
#include "mlir/IR/Operation.h"

namespace hybrid {

/// What a result reads of an operand along one dimension of the operand, its positions.
struct SequenceUse {
  enum class Kind {
    Same,   // position t of the result, along `axis`, reads position t + shift and no other
    Past,   // position t of the result, along `axis`, reads positions up to t + shift
    All,    // every position; `axis` is the dimension of the result that stands in its place, or -1
    Unknown // some, and nobody says which
  };
  Kind kind = Kind::Unknown;
  int64_t axis = -1, shift = 0;
  llvm::StringRef why; // of All and Unknown, for people: "it needs all positions"

  static SequenceUse same(int64_t axis, int64_t shift = 0) { return {Kind::Same, axis, shift, ""}; }
  static SequenceUse past(int64_t axis, int64_t shift = 0) { return {Kind::Past, axis, shift, ""}; }
  static SequenceUse all(llvm::StringRef why, int64_t axis = -1) {
    return {Kind::All, axis, 0, why};
  }
  static SequenceUse unknown(llvm::StringRef why) { return {Kind::Unknown, -1, 0, why}; }
};

/// Of any op, by what it is and declares; Unknown where nothing says.
SequenceUse sequenceUseOf(mlir::Operation *op, unsigned operand, int64_t axis, unsigned result);

/// Of an op whose operands have one shape but for the last dimension, which alone is mixed.
SequenceUse leadingSequenceUse(mlir::Value operand, int64_t axis);

} // namespace hybrid
