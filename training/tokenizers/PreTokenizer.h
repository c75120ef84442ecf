//===- PreTokenizer.h - text into the pieces that a model encodes -----------===//
#pragma once
#include "training/tokenizers/JsonNode.h"
#include <memory>
#include <string>
#include <string_view>

namespace hybrid::rt {

/// Takes pieces one by one, in the order of the text.
class PieceSink {
public:
  virtual ~PieceSink() = default;
  /// `atStart`: the piece begins where the whole text begins. False: stop, a fault was noted.
  virtual bool take(std::string_view piece, bool atStart) = 0;
};

/// Several threads may use one.
class PreTokenizer {
public:
  virtual ~PreTokenizer() = default;
  /// Gives the pieces of `text` to `out`; empty ones are left out. False: it stopped, and `fault`
  /// says why unless the sink did.
  virtual bool split(std::string_view text, bool atStart, PieceSink &out,
                     std::string &fault) const = 0;
};

/// The `pre_tokenizer` of a tokenizer.json; null of null. Faults are noted in the document.
std::unique_ptr<PreTokenizer> readPreTokenizer(const JsonNode &node);

/// GPT-2's splitting of text into words, numbers, other signs and spaces.
extern const char *const gpt2Pattern;
/// Llama 3's: numbers of up to three digits, contractions in either case.
extern const char *const llama3Pattern;

} // namespace hybrid::rt
