//===- Model.cpp - pieces of text into token numbers ------------------------===//
#include "training/tokenizers/Model.h"
#include "training/tokenizers/Utf8.h"
#include <fmt/format.h>

namespace hybrid::rt {

void readVocabulary(const JsonNode &node, Vocabulary &tokens) {
  const nlohmann::json &map = node["vocab"].json();
  if (!map.is_object())
    return node.note("vocab", "must be an object of tokens and their numbers");
  tokens.reserve(map.size());
  for (const auto &[token, id] : map.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > Vocabulary::greatestId)
      return node.note("vocab", fmt::format("the number of '{}' must be from 0 to {}", token,
                                            Vocabulary::greatestId));
    auto number = id.get<uint32_t>();
    if (!tokens.add(token, number))
      return node.note("vocab", fmt::format("'{}' and '{}' both have the number {}", tokens[number],
                                            token, number));
  }
}

std::vector<int32_t> byteTokens(const Vocabulary &tokens) {
  std::vector<int32_t> ids;
  for (int byte = 0; byte < 256; ++byte)
    ids.push_back(tokens.find(fmt::format("<0x{:02X}>", byte)));
  return ids;
}

std::unique_ptr<TokenModel> readModel(const JsonNode &node) {
  if (!node.json().is_object()) {
    node.refuse("must be an object");
    return nullptr;
  }
  // Old files do not say the type; merges tell BPE.
  std::string type = node.string("type", node["merges"].isNull() ? "WordLevel" : "BPE");
  if (type == "BPE")
    return readBpe(node);
  if (type == "WordLevel")
    return readWordLevel(node);
  if (type == "WordPiece")
    return readWordPiece(node);
  if (type == "Unigram")
    return readUnigram(node);
  node.note("type", fmt::format("the model '{}' is not supported; supported: BPE, WordLevel, "
                                "WordPiece, Unigram",
                                type));
  return nullptr;
}

namespace {

class WordLevel final : public TokenModel {
public:
  explicit WordLevel(const JsonNode &node) : unknownToken(node.string("unk_token", "<unk>")) {
    node.allowOnly({"type", "vocab", "unk_token"});
    readVocabulary(node, tokens);
    unknown = tokens.find(unknownToken);
  }
  bool encode(std::string_view piece, std::vector<int32_t> &ids,
              std::string &fault) const override {
    int32_t id = tokens.find(piece);
    ids.push_back(id < 0 ? unknown : id);
    if (ids.back() >= 0)
      return true;
    fault = fmt::format("'{}' is not in the vocabulary, and neither is the token '{}' for what is "
                        "unknown",
                        piece.substr(0, 64), unknownToken);
    return false;
  }

private:
  std::string unknownToken;
  int32_t unknown = -1;
};

/// The longest token first, from the left.
class WordPiece final : public TokenModel {
public:
  explicit WordPiece(const JsonNode &node)
      : unknownToken(node.string("unk_token", "[UNK]")),
        prefix(node.string("continuing_subword_prefix", "##")),
        longest(node.count("max_input_chars_per_word", 1 << 10, 100)) {
    node.allowOnly(
        {"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"});
    readVocabulary(node, tokens);
    unknown = tokens.find(unknownToken);
  }
  bool encode(std::string_view piece, std::vector<int32_t> &ids,
              std::string &fault) const override {
    size_t known = ids.size();
    if (isShort(piece) && encodeKnown(piece, ids))
      return true;
    ids.resize(known);
    ids.push_back(unknown);
    if (unknown < 0)
      fault =
          fmt::format("the token '{}' for what is unknown is not in the vocabulary", unknownToken);
    return unknown >= 0;
  }

private:
  bool isShort(std::string_view piece) const {
    uint64_t characters = 0;
    for (size_t i = 0; i < piece.size(); i += utf8::at(piece, i).bytes)
      if (++characters > longest)
        return false;
    return true;
  }
  bool encodeKnown(std::string_view piece, std::vector<int32_t> &ids) const {
    std::string part;
    for (size_t begin = 0, end = 0; begin < piece.size(); begin = end) {
      int32_t id = -1;
      for (end = piece.size(); end > begin; end = utf8::before(piece, end)) {
        part = begin > 0 ? prefix : "";
        part += piece.substr(begin, end - begin);
        if ((id = tokens.find(part)) >= 0)
          break;
      }
      if (id < 0)
        return false;
      ids.push_back(id);
    }
    return true;
  }

  std::string unknownToken, prefix;
  uint64_t longest;
  int32_t unknown = -1;
};

} // namespace

std::unique_ptr<TokenModel> readWordLevel(const JsonNode &node) {
  return std::make_unique<WordLevel>(node);
}
std::unique_ptr<TokenModel> readWordPiece(const JsonNode &node) {
  return std::make_unique<WordPiece>(node);
}

} // namespace hybrid::rt
