//===- SequenceAxes.h - how positions of a sequence go through a program ----===//
//
// One analysis for three questions: can a sequence be taken in chunks, what state does it leave for
// its next token, and can a position see later ones. Each op says which positions of an operand a
// result reads (dialect/SequenceUse.h); here is what follows for a program of them.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "llvm/ADT/SmallBitVector.h"
#include <limits>
#include <string>
#include <vector>

namespace hybrid {

/// Which positions of the program's inputs the elements of a value depend on.
struct Positions {
  static constexpr int64_t none = std::numeric_limits<int64_t>::min() / 4;

  /// A dimension of the value that runs along the sequence: its element t depends on positions up
  /// to t + ahead (`none`: on no position because of t).
  struct Axis {
    int64_t dimension, ahead;
  };
  llvm::SmallVector<Axis, 2> axes;
  int64_t upTo = none; // and every element on positions up to this one
  /// A mask may hide positions, or nobody says which are read: the bounds need not be reached.
  bool masked = false, uncertain = false;
  /// The op by which an element first came to depend on a position behind its own.
  mlir::Operation *cause = nullptr;

  /// Dimensions along which what is no input differs; what it is made of tells positions apart.
  llvm::SmallBitVector varies;
  bool patterned = false;

  bool ofInput() const { return !axes.empty() || upTo != none; }
  const Axis *along(int64_t dimension) const;
  /// Positions behind its own that an element may depend on: 0 or less when there are none.
  int64_t ahead() const;
};

class SequenceAxes {
public:
  /// What follows of an op. Empty texts: nothing; else why, for people.
  struct Step {
    llvm::StringRef unknown;       // positions meet in a way that no interface tells the state of
    llvm::StringRef chunked;       // in chunks the result would be another
    llvm::StringRef numbered;      // so it would, unless a position's number were known
    mlir::Operation *op = nullptr; // of `unknown`, in a body perhaps
  };

  /// An input of the program with a dimension along the sequence.
  void setInput(mlir::Value value, int64_t dimension);
  /// Follows the values through an op. Operands that were not followed are the same for all
  /// sequences.
  Step follow(mlir::Operation *op);
  const Positions &of(mlir::Value value);
  /// Whether an op with state runs along the sequence, of `length`, over what is the same at every
  /// position, as a count of positions does.
  bool countsPositions(mlir::Operation *op, int64_t length);

private:
  Positions join(mlir::Operation *op, unsigned result, Step &step);
  void joinParts(mlir::Operation *op, unsigned result, Positions &to, Step &step);
  void followConstant(mlir::Operation *op);
  Step followBody(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, Positions> positions;
};

/// The dimension of each input of `function` that runs along the sequence: the one called L, as
/// free dimensions are before they are bound; where none is, the second of [batch, length,
/// channels] and of integers [batch, length]. -1 for none.
llvm::SmallVector<int64_t> sequenceDimensions(mlir::func::FuncOp function);

/// What decoding carries from token to token, in scalars a sequence.
struct SequenceState {
  int64_t fixed = 0, dynamic = 0, shortBuffers = 0;
  /// Why it is not known, and where; empty when it is.
  std::string unknown;
  mlir::Location where;
  explicit SequenceState(mlir::Location where) : where(where) {}
};

/// `visit` is given each op with state, and how often it runs.
SequenceState sequenceStateOf(mlir::func::FuncOp forward, llvm::ArrayRef<int64_t> dimensions,
                              llvm::function_ref<void(StatefulOp, int64_t times)> visit = nullptr);

/// Whether an output at a position can depend on later positions of the input.
struct Causality {
  enum class Answer { Causal, SeesLater, Unknown };
  Answer answer = Answer::Causal;
  std::string output;             // the one that it is about; of none: no output has positions
  int64_t ahead = 0;              // positions that it sees ahead, at most; of SeesLater
  bool all = false;               // all there are
  mlir::Location where;           // the op by which
  std::vector<std::string> along; // the outputs whose second dimension runs along the sequence
  explicit Causality(mlir::Location where) : where(where) {}
};
Causality causalityOf(mlir::func::FuncOp forward, llvm::ArrayRef<int64_t> dimensions);

} // namespace hybrid
