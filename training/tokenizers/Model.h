//===- Model.h - pieces of text into token numbers --------------------------===//
#pragma once
#include "training/tokenizers/JsonNode.h"
#include "training/tokenizers/Vocabulary.h"
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

/// Several threads may use one.
class TokenModel {
public:
  virtual ~TokenModel() = default;
  /// Appends the numbers of a piece that is not empty. False: it cannot be encoded, `fault` says
  /// why.
  virtual bool encode(std::string_view piece, std::vector<int32_t> &ids,
                      std::string &fault) const = 0;
  const Vocabulary &vocabulary() const { return tokens; }

protected:
  Vocabulary tokens;
};

/// The `model` of a tokenizer.json: BPE, WordLevel, WordPiece or Unigram. Null if a fault was noted
/// in the document.
std::unique_ptr<TokenModel> readModel(const JsonNode &node);

// One a file; readModel() chooses.
std::unique_ptr<TokenModel> readBpe(const JsonNode &node);
std::unique_ptr<TokenModel> readWordLevel(const JsonNode &node);
std::unique_ptr<TokenModel> readWordPiece(const JsonNode &node);
std::unique_ptr<TokenModel> readUnigram(const JsonNode &node);

/// The field `vocab`, an object of tokens and numbers.
void readVocabulary(const JsonNode &node, Vocabulary &tokens);
/// Numbers of the tokens "<0x00>" to "<0xFF>", -1 where there is none.
std::vector<int32_t> byteTokens(const Vocabulary &tokens);

} // namespace hybrid::rt
