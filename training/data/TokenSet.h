//===- TokenSet.h - training and validation text as tokens ------------------===//
#pragma once
#include "training/data/Documents.h"
#include "training/data/TokenArray.h"
#include "training/tokenizers/Tokenizer.h"
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hybrid::rt {

/// The tokens of a split; documents follow one another, each with its end-of-text token if the
/// tokenizer has one.
struct TokenSplit {
  TokenArray tokens;
  std::vector<uint64_t> documents; // where each begins; empty: not known
  uint64_t bytes = 0;              // of text; 0: not known
};

struct TokenSet {
  TokenSplit train, validation;
  std::unique_ptr<Tokenizer> tokenizer; // null: not known
  int64_t vocabulary = 0;
  nlohmann::json description; // what config.json says of it

  /// A folder made by `data prepare`; or a token file, with validation=PATH or else its last
  /// fraction=F (0.1) held out, vocabulary=N, bytes=WIDTH, tokenizer=NAME.
  static Result<TokenSet> open(const DataSpec &spec);
  /// Tokenizes text:, jsonl: or fasta: in memory. tokenizer=NAME (bytes, of FASTA dna),
  /// split=RULE (fraction=0.1).
  static Result<TokenSet> tokenize(const DataSpec &spec, uint64_t seed);
};

/// What becomes of documents: told one by one with the split they are in.
class TokenWriter {
public:
  virtual ~TokenWriter() = default;
  virtual Result<void> document(bool heldOut, std::span<const int32_t> tokens, uint64_t bytes) = 0;
};

struct TokenizeOptions {
  std::string split = "fraction=0.1";
  uint64_t seed = 0;
};
/// Tokenizes every document of `spec`. With a fraction of a single document, its last part is held
/// out.
Result<void> tokenizeDocuments(const DataSpec &spec, const Tokenizer &tokenizer,
                               const TokenizeOptions &options, TokenWriter &writer);
/// The tokenizer that a spec names, or that its kind has by default.
Result<std::unique_ptr<Tokenizer>> tokenizerOf(const DataSpec &spec);

inline constexpr const char *preparedFormat = "hybrid-tokens";

} // namespace hybrid::rt
