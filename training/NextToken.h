//===- NextToken.h - what a language model expects next ----------------------------===//
#pragma once
#include "runtime/Decoder.h"
#include "training/compile/ModelSpec.h"
#include <functional>
#include <span>

namespace hybrid::rt {

/// A model that is asked again and again, each time about a longer text.
class NextToken {
public:
  virtual ~NextToken() = default;
  virtual int64_t vocabulary() const = 0;
  virtual Session &session() = 0;
  /// Whether it carries states, so that a place is more than its text.
  virtual bool carriesStates() const { return false; }

  /// Sees the logits [vocabulary] of what is expected behind tokens[i].
  using Visit = std::function<void(size_t i, std::span<const double> logits)>;
  /// Takes the tokens that are new, and shows what is expected behind tokens[first] and each one
  /// that follows, in their order. `tokens` begin with those of the call before, which did not
  /// reach tokens[first]; after restart() and restore() with those of that place.
  virtual Result<void> expectEach(std::span<const int32_t> tokens, size_t first,
                                  const Visit &visit) = 0;
  /// Fills `logits` with those of the token behind `tokens`.
  Result<void> expect(std::span<const int32_t> tokens, std::span<double> logits);

  /// A place in a text, to go on from after other texts. It belongs to this model with the
  /// parameters that it has.
  struct Place {
    Decoder::Place states;
    size_t start = 0;
    bool isBegun = false;
  };
  virtual Result<Place> save() { return Place(); }
  /// The same without the states, to see where it is.
  virtual Place where() const { return Place(); }
  virtual Result<void> restore(const Place &place) { return {}; }
  /// Lets another text follow.
  virtual void restart() {}
};

/// Loads a model for one sequence at a time. It carries states from token to token, for at most
/// `context` positions of what grows with the sequence (0: as many as it was compiled for); it is
/// compiled for that from its text. Where that cannot be, a note says why, and every token runs the
/// program `forward` over a whole window.
Result<std::unique_ptr<NextToken>> loadNextToken(ModelSpec model, int64_t context, int threads);

/// How to compile a model, or the one that an executable was made of, so that `rows` texts go on
/// token by token. An error where hybridc is missing or the executable carries no text.
Result<ModelSpec> decodingSpec(const ModelSpec &model, int64_t context, int64_t rows);
/// For running a model and not training it.
Result<std::unique_ptr<Session>> decodingSession(std::shared_ptr<const Executable> executable,
                                                 int threads);

} // namespace hybrid::rt
