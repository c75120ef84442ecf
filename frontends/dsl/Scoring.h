//===- Scoring.h - the body of a score ------------------------------------------===//
#pragma once
#include "frontends/dsl/Values.h"
#include "mlir/IR/Block.h"
#include <optional>

namespace hybrid::dsl {

class Emitter;

/// The score of an attention while its body is written: its numbers, and what it takes of tensors
/// outside, each with an argument of the body.
struct Scoring {
  enum class Index : uint8_t { Query, Key, Head };
  /// An element of a tensor, [batch,] and a dimension an index.
  struct Term {
    Value tensor;
    std::vector<Index> indices;
    Place place;
    mlir::BlockArgument argument;

    bool has(Index index) const;
  };

  mlir::Block *body;
  mlir::Value query, key, head;
  std::vector<Term> terms;
  Scoring *outer; // of the layer around, which a score has none of its own in

  /// Which number of the score it is.
  std::optional<Index> indexOf(mlir::Value value) const;
  /// The element of a tensor that the indices say, or a report.
  Value take(Emitter &emit, const Value &tensor, const std::vector<Index> &indices, Place place);
};

} // namespace hybrid::dsl
