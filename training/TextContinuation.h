//===- TextContinuation.h - a text that grows token by token -------------------===//
#pragma once
#include "training/GeneratedText.h"
#include "training/Sampler.h"
#include "training/tokenizers/Tokenizer.h"

namespace hybrid::rt {

struct ContinuationOptions {
  SamplerOptions sampler;
  uint64_t seed = 0;
  int64_t tokens = 200;          // to add at most
  std::vector<std::string> stop; // texts; it ends before the first of them
  bool goesPastEnd = false;      // whether the end-of-text token does not end it
};

/// Draws the tokens of a text from logits that someone computes, and turns them into text.
class TextContinuation {
public:
  /// The tokenizer outlives it.
  static Result<TextContinuation> begin(const Tokenizer &tokenizer, std::vector<int32_t> prompt,
                                        const ContinuationOptions &options);

  /// Of the prompt and behind it.
  std::span<const int32_t> tokens() const { return all; }
  int64_t added() const { return count; }

  struct Piece {
    int32_t token = -1;  // -1: the text ended instead
    std::string text;    // of the token, as far as its characters are whole
    std::string certain; // what was added to the text for good
  };
  /// Draws the next token; `logits` are those behind all tokens, and used as scratch.
  Result<Piece> take(std::span<double> logits);

  /// Whether the end-of-text token was drawn.
  bool isEnded() const { return ended; }
  bool isDone() const { return ended || output.isStopped() || count >= options.tokens; }
  /// Whether it reached a stop text or its end, and not only as many tokens as it may have.
  bool isStopped() const { return ended || output.isStopped(); }
  /// What was held back, once it is done.
  std::string finish();

private:
  TextContinuation(const Tokenizer &tokenizer, std::vector<int32_t> prompt,
                   const ContinuationOptions &options);

  ContinuationOptions options;
  int32_t end;
  std::vector<int32_t> all;
  int64_t count = 0;
  bool ended = false;
  StreamDecoder decoder;
  GeneratedText output;
};

} // namespace hybrid::rt
