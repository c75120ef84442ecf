//===- Tokenizer.h - text into token numbers and back -----------------------===//
//
// One view of every kind: bytes, DNA, the pipelines of a tokenizer.json, SentencePiece models.
// Text is bytes and need not be well-formed UTF-8. A tokenizer never changes; several threads may
// use one.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

struct EncodeOptions {
  bool addSpecial = true;       // tokens that belong around a text: begin, end
  bool recogniseSpecial = true; // special tokens spelled out in the text are those tokens
};

struct DecodeOptions {
  bool keepSpecial = true;
  bool asText = false; // ill-formed parts become U+FFFD; otherwise bytes as they are
};

class Tokenizer {
public:
  struct Special {
    std::string text;
    int32_t id = 0;
  };

  virtual ~Tokenizer() = default;
  /// Appends the numbers of `text`.
  virtual Result<void> encode(std::string_view text, const EncodeOptions &options,
                              std::vector<int32_t> &ids) const = 0;
  /// Numbers without a token give nothing.
  virtual Result<std::string> decode(std::span<const int32_t> ids,
                                     const DecodeOptions &options) const = 0;
  /// One more than the greatest number: rows of the embedding.
  virtual int64_t vocabulary() const = 0;
  /// How the vocabulary spells a token; empty of a number without one.
  virtual std::string token(int32_t id) const = 0;
  /// -1: there is none.
  virtual int32_t find(std::string_view token) const = 0;
  virtual std::vector<Special> specialTokens() const = 0;
  /// What kind it is, in a word or two, for people.
  virtual std::string kind() const = 0;
  /// Whether a token is a byte, so that loss a token is loss a byte.
  virtual bool isBytes() const { return false; }
  /// The whole tokenizer as JSON text: what a checkpoint keeps. tokenizerFromText() reads it. Equal
  /// for tokenizers that were read from equal files.
  virtual std::string serialized() const = 0;

  /// XXH3-64 of serialized() in 16 hexadecimal digits.
  std::string identity() const;
  /// The token between documents: <|endoftext|>, </s> and their like, or -1.
  int32_t endOfText() const;
};

/// Reads text that tokenizer.serialized() gave, or a tokenizer.json. `name` is for messages.
Result<std::unique_ptr<Tokenizer>> tokenizerFromText(std::string_view text,
                                                     const std::string &name);
/// "bytes", "dna", or a path: a tokenizer.json, a SentencePiece model, encoder.json or vocab.bpe
/// with the other beside it (or vocab.json and merges.txt), or a folder that holds one of these.
Result<std::unique_ptr<Tokenizer>> loadTokenizer(const std::string &name);

/// Decodes tokens one by one into text that never ends within a character.
class StreamDecoder {
public:
  explicit StreamDecoder(const Tokenizer &tokenizer, DecodeOptions options = {false, false})
      : tokenizer(tokenizer), options{options.keepSpecial, false} {}
  /// The text that is certain after `id`, maybe none. All of it joined is decode() of all ids, but
  /// for a decoder that strips the end of a text, which a stream cannot know.
  Result<std::string> next(int32_t id);
  /// What is left: the bytes of a character that never became whole.
  std::string finish();

private:
  const Tokenizer &tokenizer;
  DecodeOptions options;
  std::vector<int32_t> window; // the last tokens; what the first `shown` give has been told
  size_t shown = 0;
  std::string held;
};

} // namespace hybrid::rt
