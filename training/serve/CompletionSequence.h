//===- CompletionSequence.h - one completion, turn by turn ------------------------===//
#pragma once
#include "training/serve/CompletionRequest.h"
#include <array>

namespace hybrid::rt {

/// A token of the answer with its log-probability.
struct TokenEntry {
  int32_t token = 0;
  std::optional<double> logprob;               // none: nothing stands before it
  std::vector<std::pair<int32_t, double>> top; // the likeliest first; the token itself is one
  size_t offset = 0;                           // characters of the text before it
};

/// A part of one completion's answer.
struct CompletionPiece {
  size_t index = 0; // of the completion in the request
  std::string text;
  std::vector<TokenEntry> entries; // where they were asked for
  uint64_t added = 0;              // tokens behind the prompt
  const char *finish = nullptr;    // why it ends here: "stop" or "length"; null: it goes on
};

/// Reads a prompt in parts and adds to it token by token. What is expected comes from a model that
/// is at its place, or is given; so who runs several keeps a place of the model for each.
class CompletionSequence {
public:
  /// Request and tokenizer outlive it.
  static Result<CompletionSequence> begin(const CompletionRequest &request, size_t index,
                                          const Tokenizer &tokenizer);
  bool isReading() const { return done < prompt().size(); }
  /// Whether it is known what is expected behind all tokens, so that add() may draw one.
  bool isAhead() const { return ahead; }
  /// Asks the model, which takes a part of the prompt or what was added. Nothing: no text is
  /// certain yet.
  Result<std::optional<CompletionPiece>> expect(LanguageModel &model);
  /// The token that was added last, to be taken by whoever calls give().
  int32_t last() const { return text.tokens().back(); }
  /// Logits of what is expected behind last().
  void give(std::span<const double> values);
  /// Draws a token.
  Result<CompletionPiece> add();

private:
  CompletionSequence(const CompletionRequest &request, size_t index, const Tokenizer &tokenizer,
                     TextContinuation text)
      : request(request), index(index), text(std::move(text)), shown(tokenizer) {}
  std::span<const int32_t> prompt() const { return request.prompts[index / request.choices]; }
  Result<std::optional<CompletionPiece>> read(LanguageModel &model);
  Result<void> note(int32_t token, std::span<const double> before,
                    std::vector<TokenEntry> &entries);

  const CompletionRequest &request;
  size_t index;
  TextContinuation text;
  StreamDecoder shown; // of what entries were made for
  size_t characters = 0;
  size_t done = 0;    // tokens of the prompt that were read
  bool ahead = false; // whether `logits` are those behind all tokens
  std::vector<double> logits;
  std::vector<TokenEntry> waiting; // of text that is not certain yet
};

} // namespace hybrid::rt
