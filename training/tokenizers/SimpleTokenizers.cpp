//===- SimpleTokenizers.cpp - bytes and nucleotides -------------------------===//
#include "training/tokenizers/SimpleTokenizers.h"
#include "training/tokenizers/Utf8.h"
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

class ByteTokenizer final : public Tokenizer {
public:
  Result<void> encode(std::string_view text, const EncodeOptions &,
                      std::vector<int32_t> &ids) const override {
    ids.reserve(ids.size() + text.size());
    for (char c : text)
      ids.push_back(static_cast<uint8_t>(c));
    return {};
  }
  Result<std::string> decode(std::span<const int32_t> ids,
                             const DecodeOptions &options) const override {
    std::string text;
    for (int32_t id : ids)
      if (id >= 0 && id < 256)
        text += static_cast<char>(id);
    return options.asText ? utf8::replaceIllFormed(text) : text;
  }
  int64_t vocabulary() const override { return 256; }
  std::string token(int32_t id) const override {
    return id < 0 || id > 255 ? std::string() : std::string(1, static_cast<char>(id));
  }
  int32_t find(std::string_view token) const override {
    return token.size() == 1 ? static_cast<uint8_t>(token[0]) : -1;
  }
  std::vector<Special> specialTokens() const override { return {}; }
  std::string kind() const override { return "bytes"; }
  bool isBytes() const override { return true; }
  std::string serialized() const override { return R"({"hybrid_tokenizer":1,"type":"bytes"})"; }
};

constexpr std::array<std::string_view, 12> dnaTokens = {
    "[CLS]", "[SEP]", "[BOS]", "[MASK]", "[PAD]", "[RESERVED]", "[UNK]", "A", "C", "G", "T", "N"};
constexpr int32_t dnaSeparator = 1, dnaUnknown = 6, dnaFirstLetter = 7;

constexpr std::array<int8_t, 256> makeDnaTable() {
  std::array<int8_t, 256> table{};
  for (int8_t &entry : table)
    entry = dnaUnknown;
  auto set = [&](std::string_view letters, int8_t id) {
    for (char c : letters) {
      table[static_cast<uint8_t>(c)] = id;
      table[static_cast<uint8_t>(c | 0x20)] = id; // lower case
    }
  };
  set("A", 7);
  set("C", 8);
  set("G", 9);
  set("T", 10);
  set("NRYSWKMBDHV", 11);
  return table;
}
constexpr auto dnaTable = makeDnaTable();

class DnaTokenizer final : public Tokenizer {
public:
  Result<void> encode(std::string_view text, const EncodeOptions &options,
                      std::vector<int32_t> &ids) const override {
    ids.reserve(ids.size() + text.size() + 1);
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '[' && options.recogniseSpecial)
        if (int32_t special = specialAt(text.substr(i)); special >= 0) {
          ids.push_back(special);
          i += dnaTokens[static_cast<size_t>(special)].size() - 1;
          continue;
        }
      ids.push_back(dnaTable[static_cast<uint8_t>(text[i])]);
    }
    if (options.addSpecial)
      ids.push_back(dnaSeparator);
    return {};
  }
  Result<std::string> decode(std::span<const int32_t> ids,
                             const DecodeOptions &options) const override {
    std::string text;
    for (int32_t id : ids)
      if (id >= dnaFirstLetter || options.keepSpecial)
        text += token(id);
    return text;
  }
  int64_t vocabulary() const override { return dnaTokens.size(); }
  std::string token(int32_t id) const override {
    auto i = static_cast<size_t>(id);
    return id < 0 || i >= dnaTokens.size() ? std::string() : std::string(dnaTokens[i]);
  }
  int32_t find(std::string_view token) const override {
    for (size_t i = 0; i < dnaTokens.size(); ++i)
      if (dnaTokens[i] == token)
        return static_cast<int32_t>(i);
    return -1;
  }
  std::vector<Special> specialTokens() const override {
    std::vector<Special> special;
    for (int32_t id = 0; id < dnaFirstLetter; ++id)
      special.push_back({token(id), id});
    return special;
  }
  std::string kind() const override { return "dna"; }
  std::string serialized() const override { return R"({"hybrid_tokenizer":1,"type":"dna"})"; }

private:
  static int32_t specialAt(std::string_view text) {
    for (size_t i = 0; i < dnaFirstLetter; ++i)
      if (text.starts_with(dnaTokens[i]))
        return static_cast<int32_t>(i);
    return -1;
  }
};

class NumberTokenizer final : public Tokenizer {
public:
  explicit NumberTokenizer(int64_t count) : count(count) {}
  Result<void> encode(std::string_view text, const EncodeOptions &,
                      std::vector<int32_t> &ids) const override {
    constexpr std::string_view between = " ,\t\r\n";
    for (size_t at = 0; (at = text.find_first_not_of(between, at)) != std::string_view::npos;) {
      const std::string_view word = text.substr(at, text.find_first_of(between, at) - at);
      int32_t id = 0;
      auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
      if (error != std::errc() || end != word.data() + word.size() || id < 0 || id >= count)
        return Error{
            fmt::format("'{}' is no token number from 0 to {}", word.substr(0, 16), count - 1)};
      ids.push_back(id);
      at += word.size();
    }
    return {};
  }
  Result<std::string> decode(std::span<const int32_t> ids, const DecodeOptions &) const override {
    std::string text;
    for (int32_t id : ids)
      text += fmt::format(" {}", id);
    return text;
  }
  int64_t vocabulary() const override { return count; }
  std::string token(int32_t id) const override { return std::to_string(id); }
  int32_t find(std::string_view) const override { return -1; }
  std::vector<Special> specialTokens() const override { return {}; }
  std::string kind() const override { return "numbers"; }
  std::string serialized() const override { return R"({"hybrid_tokenizer":1,"type":"numbers"})"; }

private:
  int64_t count;
};

} // namespace

std::unique_ptr<Tokenizer> makeByteTokenizer() { return std::make_unique<ByteTokenizer>(); }
std::unique_ptr<Tokenizer> makeNumberTokenizer(int64_t vocabulary) {
  return std::make_unique<NumberTokenizer>(vocabulary);
}

std::unique_ptr<Tokenizer> makeDnaTokenizer() { return std::make_unique<DnaTokenizer>(); }

} // namespace hybrid::rt
