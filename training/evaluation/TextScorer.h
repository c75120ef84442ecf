//===- TextScorer.h - how likely a model finds texts -----------------------------===//
//
// A text is scored alone, from the states of its own beginning, so nothing depends on what is
// scored beside it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/LanguageModel.h"

namespace hybrid::rt {

struct Likelihood {
  double logProbability = 0; // natural, of all tokens together
  size_t tokens = 0;
  bool isGreedy = true; // each token is the likeliest; of equals the smallest number
};

class TextScorer {
public:
  explicit TextScorer(LanguageModel &model) : model(model) {}

  const Tokenizer &tokenizer() const { return model.tokenizer(); }
  Result<std::vector<int32_t>> encode(const std::string &text) const { return model.encode(text); }

  /// How likely each text is behind the context. Spaces at the end of the context go to the text,
  /// both together are turned into tokens, and those behind as many as the context alone has are
  /// scored (lm-evaluation-harness' rule for causal models). What the texts have in common at the
  /// beginning is read once. At most 64 texts.
  Result<std::vector<Likelihood>> follow(const std::string &context,
                                         std::span<const std::string> texts);
  /// How likely tokens[first] and those behind are; `first` is at least 1.
  Result<Likelihood> predict(std::span<const int32_t> tokens, size_t first);

  /// The likeliest text, token by token, up to the first of the stop texts.
  Result<std::string> greedy(const std::string &context, const std::vector<std::string> &stop,
                             int64_t mostTokens);

  /// The model, to be asked about another text.
  LanguageModel &fresh() {
    model.restart();
    return model;
  }

private:
  Result<Likelihood> goOn(std::span<const int32_t> tokens, size_t first);
  LanguageModel &model;
};

} // namespace hybrid::rt
