//===- LanguageModel.h - a trained model and its tokenizer ---------------------===//
#pragma once
#include "training/TokenRows.h"
#include "training/tokenizers/Tokenizer.h"

namespace hybrid::rt {

/// Which one, as a command line says it.
struct LanguageModelChoice {
  ModelSpec model;
  std::string checkpoint;
  bool average = false;  // takes the average of the parameters that its run has kept
  std::string tokenizer; // by name; empty: the one that the checkpoint carries
  int64_t context = 0;   // positions that are kept; 0: as many as the model has
  int64_t rows = 0;      // texts that may go on at the same time; 0: one by one
  int threads = 0;
};

/// Reads and writes one text at a time, or lets several go on together.
class LanguageModel {
public:
  /// Bytes stand for a model of 256 tokens whose checkpoint carries no tokenizer.
  static Result<LanguageModel> open(const LanguageModelChoice &choice);
  /// Of parts; `checkpoint` is for messages. The model's vocabulary has that of the tokenizer.
  LanguageModel(std::unique_ptr<NextToken> model, std::unique_ptr<Tokenizer> tokenizer,
                std::string checkpoint, std::unique_ptr<TokenRows> together = nullptr)
      : model(std::move(model)), together(std::move(together)), words(std::move(tokenizer)),
        file(std::move(checkpoint)) {}

  const Tokenizer &tokenizer() const { return *words; }
  const std::string &checkpoint() const { return file; }
  /// Of the tokenizer; the model's may be rounded up, and what has no text is not expected.
  int64_t vocabulary() const { return words->vocabulary(); }

  /// The tokens of a text that goes on: with what stands before every text, and not what ends it.
  /// None of an empty text where nothing stands before.
  Result<std::vector<int32_t>> encode(const std::string &text) const;

  /// As NextToken; the logits are of the tokenizer's vocabulary, and numbers.
  Result<void> expectEach(std::span<const int32_t> tokens, size_t first,
                          const NextToken::Visit &visit);
  Result<void> expect(std::span<const int32_t> tokens, std::span<double> logits);
  Result<NextToken::Place> save() { return model->save(); }
  NextToken::Place where() const { return model->where(); }
  Result<void> restore(const NextToken::Place &place) { return model->restore(place); }
  void restart() { model->restart(); }

  /// Texts that can go on together; null: none. Its logits are to be read by readRow().
  TokenRows *rows() { return together.get(); }
  /// What a row of rows() expects, as numbers of the tokenizer's vocabulary.
  Result<std::span<const double>> readRow(std::span<const double> logits) const;

private:
  Error damaged(const std::string &where) const;

  std::unique_ptr<NextToken> model;
  std::unique_ptr<TokenRows> together;
  std::unique_ptr<Tokenizer> words;
  std::string file;
};

} // namespace hybrid::rt
