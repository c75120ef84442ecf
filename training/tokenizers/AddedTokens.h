//===- AddedTokens.h - tokens that are found before anything else -----------===//
#pragma once
#include "training/tokenizers/Normalizer.h"
#include "training/tokenizers/Tokenizer.h"
#include "training/tokenizers/Vocabulary.h"
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

/// The `added_tokens` of a tokenizer.json. A text is searched for those that are not `normalized`
/// as it stands, and what lies between for the others after normalization.
class AddedTokens {
public:
  struct Token {
    std::string content;
    std::string decoded; // what decoding gives: the content as normalization leaves it
    int32_t id = 0;
    bool singleWord = false, stripLeft = false, stripRight = false, normalized = false,
         special = false;
  };

  /// Reads the list. A token that the model knows has the model's number.
  void read(const JsonNode &document, const Vocabulary &model,
            const std::vector<TextStep> &normalizer);

  /// Calls `text` with each stretch between tokens and its place, and `token` with each token.
  /// Either may return false to stop.
  bool cut(std::string_view text, bool normalized, bool recogniseSpecial,
           const std::function<bool(std::string_view, size_t)> &onText,
           const std::function<bool(int32_t)> &onToken) const;
  bool hasNormalized() const { return !byText[1].indices.empty(); }

  /// Null if the number is not an added token's.
  const Token *find(int32_t id) const;
  const Token *find(std::string_view content) const;
  const std::vector<Token> &all() const { return tokens; }

private:
  struct Index {
    Vocabulary contents;           // each content's number here is an entry of `indices`
    std::vector<uint32_t> indices; // in `tokens`
    std::array<std::vector<uint32_t>, 256> lengths; // by first byte, longest first
    void add(std::string_view content, uint32_t index);
  };
  const Token *match(std::string_view text, size_t at, const Index &index, size_t &end) const;

  std::vector<Token> tokens;
  Index byText[2];   // [1]: those that are found after normalization, normalized themselves
  Vocabulary byName; // each content's number here is an index of `tokens`
  std::vector<std::pair<int32_t, uint32_t>> byId; // sorted
};

} // namespace hybrid::rt
