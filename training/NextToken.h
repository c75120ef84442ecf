//===- NextToken.h - what a language model expects next ----------------------------===//
#pragma once
#include "training/compile/ModelSpec.h"
#include <span>

namespace hybrid::rt {

class Session;

/// A model that is asked again and again, each time about a longer text.
class NextToken {
public:
  virtual ~NextToken() = default;
  virtual int64_t vocabulary() const = 0;
  /// Fills `logits` with those of the token behind `tokens`, which begin with the tokens of the
  /// call before.
  virtual Result<void> expect(std::span<const int32_t> tokens, std::span<double> logits) = 0;
  virtual Session &session() = 0;
};

/// Loads a model for one sequence at a time. It carries states from token to token, for at most
/// `context` positions of what grows with the sequence (0: as many as it was compiled for); it is
/// compiled for that from its text. Where that cannot be, a note says why, and every token runs the
/// program `forward` over a whole window.
Result<std::unique_ptr<NextToken>> loadNextToken(ModelSpec model, int64_t context, int threads);

} // namespace hybrid::rt
